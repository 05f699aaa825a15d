package kernel

import (
	"math/bits"

	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/catalog"
	"github.com/railyard/railyard/emu/fabric"
	"github.com/railyard/railyard/emu/transit"
	"github.com/railyard/railyard/shaping"
)

// state says what a block is at, or what its next slice waits for.
type state uint8

const (
	idle     state = iota // its rank has not begun, or the block is through
	busy                  // carrying out a slice, or about to: a Wake event is pending
	waitData              // a message of a peer
	waitSlot              // a free slot at a peer
	waitDep               // a step of another block of the rank
	numStates
)

// block is a hosted thread block.
type block struct {
	id      uint32 // source of its events
	seq     uint32 // of the next event it causes
	run     int32
	wired   int32 // position in the run's wiring
	rank    int32 // position in Kernel.ranks
	channel int32
	state   state

	steps  []collective.Step
	window collective.Window
	sends  []int32
	recvs  []int32
	sm     *shaping.Calendar
	smPort fabric.PortID

	// The next slice to carry out.
	loop, step, slice int32
	iteration         int32
	// The step carried out last; until is its end.
	lastLoop, lastStep int32
	done               bool // through with its last iteration
	// until is when the block is through with what it carries out: the SM has
	// moved the bytes and the last of them has left the GPU.
	until shaping.Time
	woken shaping.Time // instant of the Wake event pushed last
	dep   int32        // the block this one waits for, when state is waitDep
	// waiters: some block of the rank waits for a step of this one.
	waiters bool

	since shaping.Time // when state was entered
	spent [numStates]shaping.Duration
}

func (b *block) count() uint32 {
	b.seq++
	return b.seq
}

// enter changes the state. A block often knows that it will have to wait before
// it is through with its slice; what it waits counts from then on.
func (b *block) enter(s state, now shaping.Time) {
	if from := max(b.since, b.until); now > from {
		b.spent[b.state] += now.Sub(from)
	}
	b.state, b.since = s, now
}

// wake handles a Wake event; a block that has nothing to wait for any more, or
// is not through yet, ignores it.
func (k *Kernel) wake(bi int32) {
	if b := &k.blocks[bi]; b.state != idle && b.until <= k.Now() {
		k.advance(bi)
	}
}

func (k *Kernel) wakeAt(b *block, bi int32, at shaping.Time) {
	b.enter(busy, k.Now())
	if b.woken == at && at > k.Now() {
		return
	}
	b.woken = at
	k.Push(transit.Key{At: at, Ord: transit.Order(transit.Wake, b.id, b.count())}, bi)
}

// advance carries out slices until one has to wait.
func (k *Kernel) advance(bi int32) {
	b := &k.blocks[bi]
	for b.state != idle {
		if b.until > k.Now() {
			k.retry(bi)
			return
		}
		if !k.possible(b, bi, k.Now()) {
			return
		}
		k.execute(b)
		k.proceed(b)
	}
}

// retry looks, before the block is through with its slice, whether the next
// one will be possible then: if so it will wake, if not it starts to wait.
func (k *Kernel) retry(bi int32) {
	b := &k.blocks[bi]
	at := max(b.until, k.Now())
	if k.possible(b, bi, at) {
		k.wakeAt(b, bi, at)
	}
}

// possible reports whether the block's next slice can be carried out at an
// instant, as far as is known now. If not, it notes what the block waits for,
// and a Wake is pending when the instant of that is known.
func (k *Kernel) possible(b *block, bi int32, at shaping.Time) bool {
	s := &b.steps[b.step]
	if b.slice == 0 && len(s.Deps) > 0 && !k.depsMet(b, bi, s, at) {
		return false
	}
	for m := recvMask(s); m != 0; m &= m - 1 {
		if k.conns[b.recvs[bits.TrailingZeros8(m)]].ready == 0 {
			b.enter(waitData, k.Now())
			return false
		}
	}
	n := k.slice(b.run)
	for m := sendMask(s); m != 0; m &= m - 1 {
		c := &k.conns[b.sends[bits.TrailingZeros8(m)]]
		c.settle(k.Now(), n)
		if free := c.freeAt(n, n); free > at {
			if free != shaping.Never {
				k.wakeAt(b, bi, free)
			}
			b.enter(waitSlot, k.Now())
			return false
		}
	}
	return true
}

func recvMask(s *collective.Step) uint8 {
	if !s.Kind.Receives() {
		return 0
	}
	return s.Recv
}

func sendMask(s *collective.Step) uint8 {
	if !s.Kind.Sends() {
		return 0
	}
	return s.Send
}

// depsMet reports whether the steps that s depends on are done at an instant.
func (k *Kernel) depsMet(b *block, bi int32, s *collective.Step, at shaping.Time) bool {
	for _, d := range s.Deps {
		di := k.ranks[b.rank].first + int32(d.Block)
		done := k.doneAt(&k.blocks[di], b, int32(d.Step))
		if done <= at {
			continue
		}
		if done != shaping.Never {
			k.wakeAt(b, bi, done)
		}
		k.blocks[di].waiters = true
		b.dep = di
		b.enter(waitDep, k.Now())
		return false
	}
	return true
}

// doneAt returns when block d is through with a step in the loop and iteration
// that block b is in; Never when it has not carried it out yet.
func (k *Kernel) doneAt(d, b *block, step int32) shaping.Time {
	if d.iteration != b.iteration {
		if d.iteration > b.iteration {
			return 0
		}
		return shaping.Never
	}
	if d.state != idle && (d.loop < b.loop || (d.loop == b.loop && d.step <= step)) {
		return shaping.Never
	}
	if d.lastLoop == b.loop && d.lastStep == step {
		return d.until
	}
	return 0
}

// execute carries out the block's next slice, now.
func (k *Kernel) execute(b *block) {
	r := &k.runs[b.run]
	s := &b.steps[b.step]
	now := k.Now()
	b.enter(busy, now)
	data := k.sliceBytes(r, b, s)
	start, end := now, now
	if cost := k.cost(r, b, s, data); cost > 0 {
		got := b.sm.Book(now, now, now, cost)
		start, end = got.Start, got.End
	}
	b.until = end
	for m := recvMask(s); m != 0; m &= m - 1 {
		ci := b.recvs[bits.TrailingZeros8(m)]
		k.conns[ci].ready--
		k.free(b, ci, end)
	}
	payload := b.iteration == 0 && r.Real > 0
	for m := sendMask(s); m != 0; m &= m - 1 {
		b.until = max(b.until, k.send(b, b.sends[bits.TrailingZeros8(m)], data, payload, start, end))
	}
	b.spent[busy] += b.until.Sub(now)
	if payload {
		k.effects.Moves = append(k.effects.Moves, Move{b.run, b.wired, b.step, b.loop, b.slice})
	}
	if k.Record {
		k.log(b, s, now, data)
	}
}

// sliceBytes returns how many bytes of data the block's next slice has.
func (k *Kernel) sliceBytes(r *run, b *block, s *collective.Step) shaping.Bytes {
	ref := s.Src
	if !s.Kind.ReadsSrc() {
		ref = s.Dst
	}
	index := ref.Index
	if ref.Buffer != collective.Scratch {
		index = b.window.Chunk(index)
	}
	n := r.geometry.Message(index, s.Chunks(), int(b.loop))
	lo, hi := r.geometry.Slice(n, int(b.slice))
	return shaping.Bytes((hi - lo) * r.elem)
}

// cost returns the bytes the SM moves for a slice. A step that copies chunks
// onto themselves, because the run is in place, costs nothing.
func (k *Kernel) cost(r *run, b *block, s *collective.Step, data shaping.Bytes) shaping.Bytes {
	if s.Kind == collective.Nop {
		return 0
	}
	if s.Kind == collective.Copy {
		rank := int(k.ranks[b.rank].rank)
		if r.InPlace && r.plan.SameInPlace(rank, b.window, s.Src, s.Dst) {
			return 0
		}
		return data
	}
	return catalog.EngineBytes(r.protocol, data)
}

// proceed moves the block on to its next slice.
func (k *Kernel) proceed(b *block) {
	r := &k.runs[b.run]
	b.lastLoop, b.lastStep = b.loop, b.step
	b.slice++
	if int(b.slice) < r.geometry.Slices && b.steps[b.step].Kind != collective.Nop {
		return
	}
	b.slice = 0
	b.step++
	if int(b.step) == len(b.steps) {
		b.step = 0
		b.loop++
	}
	if int(b.loop) == r.geometry.Loops || len(b.steps) == 0 {
		k.finish(b)
	}
	if b.waiters {
		k.release(b)
	}
}

// release lets the blocks that wait for a step of b look again.
func (k *Kernel) release(b *block) {
	b.waiters = false
	rk := &k.ranks[b.rank]
	for i := rk.first; i < rk.first+rk.blocks; i++ {
		w := &k.blocks[i]
		if w.state == waitDep && &k.blocks[w.dep] == b {
			k.retry(i)
		}
	}
}

func (k *Kernel) log(b *block, s *collective.Step, start shaping.Time, data shaping.Bytes) {
	peer := int32(none)
	if m := sendMask(s); m != 0 {
		peer = k.peer(b, b.sends[bits.TrailingZeros8(m)], true)
	} else if m := recvMask(s); m != 0 {
		peer = k.peer(b, b.recvs[bits.TrailingZeros8(m)], false)
	}
	k.Log(emu.Record{Start: start, Duration: b.until.Sub(start), Run: b.run, Rank: k.ranks[b.rank].rank,
		Channel: b.channel, Block: k.runs[b.run].blockIndex(b), Step: b.step, Kind: emu.RecordKind(s.Kind),
		Peer: peer, Port: b.smPort, Bytes: data})
}

// peer returns the rank at the other end of a connection.
func (k *Kernel) peer(b *block, ci int32, to bool) int32 {
	wc := &k.runs[b.run].wired.Conns[k.conns[ci].wired]
	if to {
		return int32(wc.To)
	}
	return int32(wc.From)
}

// blockIndex returns the block's position among the blocks of its rank.
func (r *run) blockIndex(b *block) int32 { return int32(r.wired.Blocks[b.wired].Index) }

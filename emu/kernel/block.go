package kernel

import (
	"github.com/railyard/railyard/collective"
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

// block is a hosted thread block, as far as every slice needs it: two cache
// lines. Its state stands apart in Kernel.states, its window in Kernel.windows:
// with a thousand ranks each line fetched costs more than what is done with it.
type block struct {
	id  uint32 // source of its events
	seq uint32 // of the next event it causes
	// until is when the block is through with what it carries out: the SM has
	// moved the bytes and the last of them has left the GPU.
	until shaping.Time
	woken shaping.Time // instant of the Wake event pushed last
	since shaping.Time // when its state was entered
	run   int32
	// The next slice to carry out.
	loop, step, slice int32
	iteration         int32
	// The step carried out last; until is its end.
	lastLoop, lastStep int32
	done               bool // through with its last iteration
	// waiters: some block of the rank waits for a step of this one.
	waiters bool

	steps   []collective.Step
	sends   int32 // position in Kernel.conns of the first it sends on; the others follow
	recvs   int32 // position in Kernel.recvs of the first it receives on; likewise
	engine  int32 // its SM, position in Kernel.engines
	rank    int32 // position in Kernel.ranks
	channel int32
	dep     int32 // the block this one waits for, when its state is waitDep
	wired   int32 // position in the run's wiring

	peersOut, peersIn int32 // how many it sends to, and receives from
}

func (b *block) count() uint32 {
	b.seq++
	return b.seq
}

// enter changes the state. A block often knows that it will have to wait before
// it is through with its slice; what it waits counts from then on.
func (k *Kernel) enter(b *block, bi int32, s state) {
	now := k.Now()
	if from := max(b.since, b.until); now > from {
		k.spent[k.states[bi]] += now.Sub(from)
	}
	k.states[bi], b.since = s, now
}

// wake handles a Wake event; a block that has nothing to wait for any more, or
// is not through yet, ignores it.
func (k *Kernel) wake(bi int32) {
	if k.states[bi] != idle && k.blocks[bi].until <= k.Now() {
		k.advance(bi)
	}
}

func (k *Kernel) wakeAt(b *block, bi int32, at shaping.Time) {
	k.enter(b, bi, busy)
	if b.woken == at && at > k.Now() {
		return
	}
	b.woken = at
	k.Push(transit.Key{At: at, Ord: transit.Order(transit.Wake, b.id, b.count())}, bi)
}

// advance carries out slices until one has to wait.
func (k *Kernel) advance(bi int32) {
	b := &k.blocks[bi]
	if len(k.halts) > 0 && k.halted(b, bi) {
		return
	}
	for k.states[bi] != idle {
		if b.until > k.Now() {
			k.retry(bi)
			return
		}
		if !k.possible(b, bi, k.Now()) {
			return
		}
		k.execute(b, bi)
		k.proceed(b, bi)
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
	for m, i := firstRecv(s); i < int(b.peersIn); i = m.Next(i + 1) {
		if k.conns[k.recvConn(b, i)].ready == 0 {
			k.enter(b, bi, waitData)
			return false
		}
	}
	for m, i := firstSend(s); i < int(b.peersOut); i = m.Next(i + 1) {
		if free := k.slotFree(&k.conns[b.sendConn(i)]); free > at {
			if free != shaping.Never {
				k.wakeAt(b, bi, free)
			}
			k.enter(b, bi, waitSlot)
			return false
		}
	}
	return true
}

// sendConn returns the connection to a peer, by its position in the block's list.
func (b *block) sendConn(peer int) int32 { return b.sends + int32(peer) }

// recvConn is the same for the connections a step receives on.
func (k *Kernel) recvConn(b *block, peer int) int32 {
	return k.recvs[b.recvs+int32(peer)]
}

// firstRecv returns the peers that a step receives from, and the position of the
// first of them; firstSend those that it sends to. Loops go on with Mask.Next.
func firstRecv(s *collective.Step) (collective.Mask, int) {
	m := recvMask(s)
	return m, m.Next(0)
}

func firstSend(s *collective.Step) (collective.Mask, int) {
	m := sendMask(s)
	return m, m.Next(0)
}

func recvMask(s *collective.Step) collective.Mask {
	if !s.Kind.Receives() {
		return 0
	}
	return s.Recv
}

func sendMask(s *collective.Step) collective.Mask {
	if !s.Kind.Sends() {
		return 0
	}
	return s.Send
}

// depsMet reports whether the steps that s depends on are done at an instant.
func (k *Kernel) depsMet(b *block, bi int32, s *collective.Step, at shaping.Time) bool {
	for _, d := range s.Deps {
		di := k.ranks[b.rank].first + int32(d.Block)
		done := k.doneAt(di, b, int32(d.Step))
		if done <= at {
			continue
		}
		if done != shaping.Never {
			k.wakeAt(b, bi, done)
		}
		k.blocks[di].waiters = true
		b.dep = di
		k.enter(b, bi, waitDep)
		return false
	}
	return true
}

// doneAt returns when block di is through with a step in the loop and iteration
// that block b is in; Never when it has not carried it out yet.
func (k *Kernel) doneAt(di int32, b *block, step int32) shaping.Time {
	d := &k.blocks[di]
	if d.iteration != b.iteration {
		if d.iteration > b.iteration {
			return 0
		}
		return shaping.Never
	}
	if k.states[di] != idle && (d.loop < b.loop || (d.loop == b.loop && d.step <= step)) {
		return shaping.Never
	}
	if d.lastLoop == b.loop && d.lastStep == step {
		return d.until
	}
	return 0
}

// release lets the blocks that wait for a step of block bi look again.
func (k *Kernel) release(b *block, bi int32) {
	b.waiters = false
	rk := &k.ranks[b.rank]
	for i := rk.first; i < rk.first+rk.blocks; i++ {
		if k.states[i] == waitDep && k.blocks[i].dep == bi {
			k.retry(i)
		}
	}
}

package kernel

import (
	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/catalog"
	"github.com/railyard/railyard/emu/fabric"
	"github.com/railyard/railyard/shaping"
)

// execute carries out the block's next slice, now.
func (k *Kernel) execute(b *block, bi int32) {
	r := &k.runs[b.run]
	s := &b.steps[b.step]
	now := k.Now()
	k.enter(b, bi, busy)
	data := k.sliceBytes(r, b, bi, s)
	start, end := now, now
	if cost := k.cost(r, b, bi, s, data); cost > 0 {
		if k.slow {
			cost = k.slowed(b, s, cost)
		}
		if k.throttled {
			cost = k.throttle(b, cost)
		}
		start, end = k.engines[b.engine].serve(now, cost)
	}
	b.until = end
	if k.slow && data > 0 {
		_, peer := firstSend(s)
		b.until = k.pause(b, peer, end)
	}
	for m, i := firstRecv(s); i < int(b.peersIn); i = m.Next(i + 1) {
		ci := k.recvConn(b, i)
		k.conns[ci].ready--
		k.free(b, ci, end)
	}
	payload := b.iteration == 0 && r.Real > 0
	for m, i := firstSend(s); i < int(b.peersOut); i = m.Next(i + 1) {
		b.until = max(b.until, k.send(b, b.sendConn(i), data, payload, start, end))
	}
	k.spent[busy] += b.until.Sub(now)
	if payload {
		k.effects.Moves = append(k.effects.Moves, Move{Run: b.run, Block: b.wired, Step: b.step, Loop: b.loop, Slice: b.slice})
	}
	if k.Record {
		k.log(b, s, now, data)
	}
}

// sliceBytes returns how many bytes of data the block's next slice has.
func (k *Kernel) sliceBytes(r *run, b *block, bi int32, s *collective.Step) shaping.Bytes {
	if r.even {
		return r.least * shaping.Bytes(s.Chunks())
	}
	ref := s.Src
	if !s.Kind.ReadsSrc() && s.Kind != collective.Forward {
		ref = s.Dst
	}
	index := ref.Index
	if ref.Buffer != collective.Scratch {
		index = k.windows[bi].Chunk(index)
	}
	g := r.geometry.For(int(k.ranks[b.rank].rank))
	n := g.Message(index, s.Chunks(), int(b.loop))
	lo, hi := g.Slice(n, int(b.slice))
	return shaping.Bytes((hi - lo) * r.elem)
}

// cost returns the bytes the SM moves for a slice. A step that copies chunks
// onto themselves, because the run is in place, costs nothing.
func (k *Kernel) cost(r *run, b *block, bi int32, s *collective.Step, data shaping.Bytes) shaping.Bytes {
	if s.Kind == collective.Nop {
		return 0
	}
	if s.Kind == collective.Copy {
		rank := int(k.ranks[b.rank].rank)
		if r.InPlace && r.plan.SameInPlace(rank, k.windows[bi], s.Src, s.Dst) {
			return 0
		}
		return data
	}
	if r.protocol == collective.LL {
		return k.smOf(b).Moves(r.protocol, data)
	}
	return catalog.EngineBytes(r.protocol, data)
}

// smOf returns the SMs of the GPU that a block is on.
func (k *Kernel) smOf(b *block) *catalog.SM {
	gpu := k.runs[b.run].Comm[k.ranks[b.rank].rank]
	return &k.fabric.System(k.fabric.NodeOf(gpu)).SM
}

// slowed returns the bytes that the SM could move in the time that a slice
// takes where it writes or reads host memory, over PCIe, or the engines of an
// NVSwitch: it is slower there.
func (k *Kernel) slowed(b *block, s *collective.Step, cost shaping.Bytes) shaping.Bytes {
	own := k.engines[b.engine].rate
	rate := own
	slower := func(than shaping.Rate) {
		if than > 0 {
			rate = min(rate, than)
		}
	}
	for m, i := firstSend(s); i < int(b.peersOut); i = m.Next(i + 1) {
		slower(k.firstPath(b.sendConn(i)).Copy)
	}
	for m, i := firstRecv(s); i < int(b.peersIn); i = m.Next(i + 1) {
		slower(k.lastPath(k.recvConn(b, i)).Fetch)
	}
	return (cost*shaping.Bytes(own) + shaping.Bytes(rate) - 1) / shaping.Bytes(rate)
}

// firstPath returns the path by which a connection leaves its sender's SM: to the
// buffer that the NIC reads from, else all the way.
func (k *Kernel) firstPath(ci int32) *fabric.Path {
	if p := k.conns[ci].local; p != nil {
		return p
	}
	return &k.remoteOf(ci).route.Wire
}

// lastPath returns the path by which a connection reaches its receiver's SM.
func (k *Kernel) lastPath(ci int32) *fabric.Path {
	if c := &k.conns[ci]; c.remote == none {
		return c.local
	}
	return &k.remoteOf(ci).route.Wire
}

// proceed moves the block on to its next slice.
func (k *Kernel) proceed(b *block, bi int32) {
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
		k.finish(b, bi)
	}
	if b.waiters {
		k.release(b, bi)
	}
}

func (k *Kernel) log(b *block, s *collective.Step, start shaping.Time, data shaping.Bytes) {
	peer := int32(none)
	r := &k.runs[b.run]
	if _, i := firstSend(s); i < int(b.peersOut) {
		peer = int32(r.wired.Conns[b.sendConn(i)-r.firstConn].To)
	} else if _, i := firstRecv(s); i < int(b.peersIn) {
		peer = int32(r.wired.Conns[k.recvConn(b, i)-r.firstConn].From)
	}
	rank := k.ranks[b.rank].rank
	k.Log(emu.Record{Start: start, Duration: b.until.Sub(start), Run: b.run, Rank: rank,
		Channel: b.channel, Block: r.blockIndex(b), Step: b.step, Kind: emu.RecordKind(s.Kind),
		Peer: peer, Port: k.engineIDs[b.engine], Bytes: data})
}

// blockIndex returns the block's position among the blocks of its rank.
func (r *run) blockIndex(b *block) int32 { return int32(r.wired.Blocks[b.wired].Index) }

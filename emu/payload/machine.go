package payload

import (
	"fmt"

	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/wiring"
)

// Machine holds the real elements of a run's hosted ranks.
type Machine struct {
	run    emu.Run
	data   collective.Data
	wiring *wiring.Wiring
	geo    collective.Geometry
	size   int64 // bytes of an element

	ranks []memory // hosted ranks, ascending
	owner []int    // position in wiring.Blocks → position in ranks
	fifos []fifo   // parallel to wiring.Conns
	pool  pool

	// Lists of Apply, kept for their memory: pieces of source and destination,
	// and messages received.
	src, dst, in [][]byte
}

// memory is one rank's buffers, by collective.Buffer. In place, input and
// output overlap.
type memory struct {
	rank     int
	geo      collective.Geometry // of this rank's buffers
	buffers  [3][]byte
	finished bool // the output has been through collective.Finish
}

// New allocates the buffers of the ranks that w hosts and fills their inputs
// with test data, prepared as the first load of an input does it: that of an
// average of floats multiplies by 1/n, see collective.Prepare. The geometry is that of the real elements: of all, or of a
// scale model. Every count works; with fewer elements than the plan has pieces
// (see Geometry.Scale) some slices are empty and prove nothing.
//
// In place, buffers overlap as nccl-tests lays them out: where input and output
// have as many parts they are the same; else the smaller is the rank's own part
// of the larger, in a gather or scatter on the root alone.
//
// A machine of an earlier run that Lends its inputs gives them up: nothing need
// be allocated or filled again. nil: there is none.
func New(run emu.Run, w *wiring.Wiring, geometry collective.Geometry, earlier *Machine) *Machine {
	m := &Machine{
		run: run, data: dataOf(&run, w), wiring: w, geo: geometry, size: run.DType.Size(),
		owner: make([]int, len(w.Blocks)), fifos: make([]fifo, len(w.Conns)),
	}
	at := make([]int, w.Plan.Ranks)
	for r := range w.Plan.Ranks {
		if _, hosted := w.RankBlocks(r); hosted {
			at[r] = len(m.ranks)
			m.ranks = append(m.ranks, m.allocate(r, earlier.lend(r)))
		}
	}
	for i := range w.Blocks {
		m.owner[i] = at[w.Blocks[i].Rank]
	}
	return m
}

func dataOf(run *emu.Run, w *wiring.Wiring) collective.Data {
	return collective.Data{
		Op: run.Op, DType: run.DType, RedOp: run.RedOp, Seed: run.Seed,
		Ranks: w.Plan.Ranks, Root: w.Plan.Root,
	}
}

// fill makes a rank's input what the plan's first step reads of it.
func (m *Machine) fill(input []byte, rank int) {
	m.data.Fill(input, rank, 0)
	if m.run.Op.Reduces() {
		collective.Prepare(input, m.run.DType, m.run.RedOp, rank, m.data.Ranks)
	}
}

// Refill replaces the test data of the hosted ranks: set is given each one's input.
// Call it before the run. Verdicts then tell nothing but by their Digest, since
// nobody knows what such data must come to.
func (m *Machine) Refill(set func(rank int, input []byte)) {
	for i := range m.ranks {
		r := &m.ranks[i]
		input := r.buffers[collective.Input]
		set(r.rank, input)
		if m.run.Op.Reduces() {
			collective.Prepare(input, m.run.DType, m.run.RedOp, r.rank, m.data.Ranks)
		}
	}
}

// Outputs calls get with the output of each hosted rank, as far as the operation
// says what it holds. Call it after the run.
func (m *Machine) Outputs(get func(rank int, output []byte)) {
	for i := range m.ranks {
		r := &m.ranks[i]
		elems := collective.Checked(m.run.Op, m.data.Ranks, r.rank, m.data.Root, m.geo.Count)
		m.finish(r, elems)
		get(r.rank, r.buffers[collective.Output][:elems*m.size])
	}
}

// allocate returns a rank's buffers. Outputs never come from an earlier run:
// what that left there could pass for a result.
func (m *Machine) allocate(rank int, lent []byte) memory {
	part := m.geo.Count * m.size
	in, out := m.run.Op.Parts(m.wiring.Plan.Ranks)
	own := int64(rank) * part
	var input, output []byte
	switch {
	case lent != nil && !m.overlap(rank):
		input, output = lent, make([]byte, int64(out)*part)
	case lent != nil && in == out:
		input, output = lent, lent
	case !m.overlap(rank):
		input, output = make([]byte, int64(in)*part), make([]byte, int64(out)*part)
	case in < out:
		output = make([]byte, int64(out)*part)
		input = output[own:][:part]
	case in > out:
		input = make([]byte, int64(in)*part)
		output = input[own:][:part]
	default:
		input = make([]byte, int64(in)*part)
		output = input
	}
	if m.wiring.Plan.Imported && !m.overlap(rank) {
		m.taint(output)
	}
	if len(lent) == 0 || &input[0] != &lent[0] {
		m.fill(input, rank)
	}
	scratch := make([]byte, m.scratchParts()*part)
	if m.wiring.Plan.Imported {
		m.taint(scratch)
	}
	return memory{rank: rank, geo: m.geo.For(rank), buffers: [3][]byte{
		collective.Input: input, collective.Output: output, collective.Scratch: scratch}}
}

// taint fills memory that an imported plan may read before it has written it
// with values that show in every reduction. Zeros would not: a sum that takes
// in unset scratch would come out right.
func (m *Machine) taint(b []byte) {
	v := byte(0x4b) // as a float 1.3e7, as an integer 1.3e9
	if m.run.RedOp == collective.Min {
		v |= 0x80 // and as far below zero
	}
	for i := range b {
		b[i] = v
	}
}

// Lends reports whether the machine's inputs are just what another run of the
// same ranks begins with: the same data, which this run has left as they were.
func (m *Machine) Lends(run *emu.Run, w *wiring.Wiring, geometry collective.Geometry) bool {
	if m == nil || m.run.InPlace || m.writesInput() {
		return false
	}
	in, _ := m.run.Op.Parts(m.wiring.Plan.Ranks)
	need, _ := run.Op.Parts(w.Plan.Ranks)
	if in != need || m.geo.Count != geometry.Count || !m.data.SameInputs(dataOf(run, w)) {
		return false
	}
	for i := range m.ranks {
		if _, hosted := w.RankBlocks(m.ranks[i].rank); !hosted {
			return false
		}
	}
	return w.Plan.Ranks == m.wiring.Plan.Ranks
}

// writesInput reports whether some step of the plan writes to an input buffer.
func (m *Machine) writesInput() bool {
	for i := range m.wiring.Blocks {
		for j := range m.wiring.Blocks[i].Steps {
			if s := &m.wiring.Blocks[i].Steps[j]; s.Kind.WritesDst() && s.Dst.Buffer == collective.Input {
				return true
			}
		}
	}
	return false
}

// lend gives up a rank's input. nil: there is none.
func (m *Machine) lend(rank int) []byte {
	if m == nil {
		return nil
	}
	for i := range m.ranks {
		if m.ranks[i].rank == rank {
			input := m.ranks[i].buffers[collective.Input]
			m.ranks[i] = memory{rank: rank}
			return input
		}
	}
	return nil
}

func (m *Machine) overlap(rank int) bool {
	switch m.run.Op {
	case collective.Gather, collective.Scatter:
		return m.run.InPlace && rank == m.wiring.Plan.Root
	default:
		return m.run.InPlace
	}
}

// scratchParts returns of how many parts the scratch buffer is made, laid out
// like those of an output: chunk i lies where an output's chunk i would. Loops
// thus have scratch memory of their own, and one that begins early harms none.
func (m *Machine) scratchParts() int64 {
	p := m.wiring.Plan
	return int64((p.Scratch + p.Chunks - 1) / p.Chunks)
}

// locate appends to list the pieces of memory that a reference of a step means
// for a slice.
func (m *Machine) locate(list [][]byte, v Move, ref collective.Ref) [][]byte {
	b := &m.wiring.Blocks[v.Block]
	loop, chunks := int(v.Loop), b.Steps[v.Step].Chunks()
	first := ref.Index
	if ref.Buffer != collective.Scratch {
		first = b.Window.Chunk(first)
	}
	mem := &m.ranks[m.owner[v.Block]]
	lo, hi := mem.geo.Slice(mem.geo.Message(first, chunks, loop), int(v.Slice))
	buf := mem.buffers[ref.Buffer]
	mem.geo.Pieces(first, chunks, loop, lo, hi, func(off, n int64) {
		list = append(list, buf[off*m.size:(off+n)*m.size])
	})
	return list
}

// sliceLen returns the bytes of a slice of the chunks that a reference means.
func (m *Machine) sliceLen(v Move, ref collective.Ref) int {
	b := &m.wiring.Blocks[v.Block]
	first := ref.Index
	if ref.Buffer != collective.Scratch {
		first = b.Window.Chunk(first)
	}
	geo := &m.ranks[m.owner[v.Block]].geo
	lo, hi := geo.Slice(geo.Message(first, b.Steps[v.Step].Chunks(), int(v.Loop)), int(v.Slice))
	return int((hi - lo) * m.size)
}

// bug panics: the plan was not checked, or the kernel and the machine disagree.
func (m *Machine) bug(v Move, format string, args ...any) {
	b := &m.wiring.Blocks[v.Block]
	panic(fmt.Sprintf("payload: rank %d block %d step %d (%v) loop %d slice %d: %s",
		b.Rank, b.Index, v.Step, b.Steps[v.Step].Kind, v.Loop, v.Slice, fmt.Sprintf(format, args...)))
}

package payload

import (
	"fmt"

	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/wiring"
)

// root is the root of operations that have one, as collective.Check has it.
const root = 0

// Machine holds the real elements of a run's hosted ranks.
type Machine struct {
	run    emu.Run
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
	rank    int
	buffers [3][]byte
}

// New allocates the buffers of the ranks that w hosts and fills their inputs
// with test data. The geometry is that of the real elements: of all, or of a
// scale model. Every count works; with fewer elements than the plan has pieces
// (see Geometry.Scale) some slices are empty and prove nothing.
//
// In place, buffers overlap as nccl-tests lays them out: where input and output
// have as many parts they are the same; else the smaller is the rank's own part
// of the larger, in a gather or scatter on the root alone.
func New(run emu.Run, w *wiring.Wiring, geometry collective.Geometry) *Machine {
	m := &Machine{
		run: run, wiring: w, geo: geometry, size: run.DType.Size(),
		owner: make([]int, len(w.Blocks)), fifos: make([]fifo, len(w.Conns)),
	}
	at := make([]int, w.Plan.Ranks)
	for r := range w.Plan.Ranks {
		if _, hosted := w.RankBlocks(r); hosted {
			at[r] = len(m.ranks)
			m.ranks = append(m.ranks, m.allocate(r))
		}
	}
	for i := range w.Blocks {
		m.owner[i] = at[w.Blocks[i].Rank]
	}
	return m
}

func (m *Machine) allocate(rank int) memory {
	part := m.geo.Count * m.size
	in, out := m.run.Op.Parts(m.wiring.Plan.Ranks)
	own := int64(rank) * part
	var input, output []byte
	switch {
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
	collective.Fill(input, m.run.DType, m.run.RedOp, m.run.Seed, rank, 0)
	return memory{rank, [3][]byte{
		collective.Input: input, collective.Output: output,
		collective.Scratch: make([]byte, m.scratchParts()*part),
	}}
}

func (m *Machine) overlap(rank int) bool {
	switch m.run.Op {
	case collective.Gather, collective.Scatter:
		return m.run.InPlace && rank == root
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
	lo, hi := m.geo.Slice(m.geo.Message(first, chunks, loop), int(v.Slice))
	buf := m.ranks[m.owner[v.Block]].buffers[ref.Buffer]
	m.geo.Pieces(first, chunks, loop, lo, hi, func(off, n int64) {
		list = append(list, buf[off*m.size:(off+n)*m.size])
	})
	return list
}

// bug panics: the plan was not checked, or the kernel and the machine disagree.
func (m *Machine) bug(v Move, format string, args ...any) {
	b := &m.wiring.Blocks[v.Block]
	panic(fmt.Sprintf("payload: rank %d block %d step %d (%v) loop %d slice %d: %s",
		b.Rank, b.Index, v.Step, b.Steps[v.Step].Kind, v.Loop, v.Slice, fmt.Sprintf(format, args...)))
}

package wire

import (
	"fmt"
	"math"

	"github.com/railyard/railyard/emu"
	railyardv1 "github.com/railyard/railyard/proto/railyard/v1"
	"github.com/railyard/railyard/shaping"
)

// MaxRecords is how many records one message should hold at most. It keeps even
// records full of large numbers below MaxMessage.
const MaxRecords = 1 << 17

// EncodeRecords returns records, which must be in the kernel's order, by
// column.
func EncodeRecords(recs []emu.Record) *railyardv1.Records {
	m := newRecords(len(recs))
	var last shaping.Time
	for i := range recs {
		r := &recs[i]
		if r.At < last {
			panic(fmt.Sprintf("wire: record at %d ps after one at %d ps", int64(r.At), int64(last)))
		}
		m.AtDeltaPs[i] = int64(r.At.Sub(last))
		last = r.At
		m.Ord[i], m.Hop[i], m.Index[i] = r.Ord, r.Hop, r.Index
		m.StartDeltaPs[i] = int64(r.Start.Sub(r.At))
		m.DurationPs[i] = int64(r.Duration)
		m.Run[i], m.Rank[i], m.Channel[i] = r.Run, r.Rank, r.Channel
		m.Block[i], m.Step[i] = r.Block, r.Step
		m.Kind[i] = byte(r.Kind)
		m.Peer[i], m.Port[i] = r.Peer, r.Port
		m.MovedBytes[i] = int64(r.Bytes)
	}
	return m
}

// newRecords returns columns of n entries. Columns of one type share an array,
// which keeps the allocations of a report few.
func newRecords(n int) *railyardv1.Records {
	i64, i32, u32 := make([]int64, 4*n), make([]int32, 7*n), make([]uint32, 2*n)
	return &railyardv1.Records{
		AtDeltaPs: cut(&i64, n), StartDeltaPs: cut(&i64, n), DurationPs: cut(&i64, n), MovedBytes: cut(&i64, n),
		Ord: make([]uint64, n), Hop: cut(&u32, n), Index: cut(&u32, n),
		Run: cut(&i32, n), Rank: cut(&i32, n), Channel: cut(&i32, n), Block: cut(&i32, n), Step: cut(&i32, n),
		Peer: cut(&i32, n), Port: cut(&i32, n),
		Kind: make([]byte, n),
	}
}

func cut[T any](from *[]T, n int) []T {
	part := (*from)[:n:n]
	*from = (*from)[n:]
	return part
}

// DecodeRecords appends the records of m to recs. On an error it returns recs
// as it was.
func DecodeRecords(recs []emu.Record, m *railyardv1.Records) ([]emu.Record, error) {
	if err := checkColumns(m); err != nil {
		return recs, err
	}
	out := recs
	var last shaping.Time
	for i, delta := range m.GetAtDeltaPs() {
		if delta < 0 || delta > int64(math.MaxInt64-last) {
			return recs, fmt.Errorf("records: at_delta_ps[%d] %d: allowed are 0 to %d", i, delta, int64(math.MaxInt64-last))
		}
		last += shaping.Time(delta)
		start := m.StartDeltaPs[i]
		if start < -int64(last) || start > int64(math.MaxInt64-last) {
			return recs, fmt.Errorf("records: start_delta_ps[%d] %d: allowed are %d to %d",
				i, start, -int64(last), int64(math.MaxInt64-last))
		}
		out = append(out, emu.Record{
			At: last, Ord: m.Ord[i], Hop: m.Hop[i], Index: m.Index[i],
			Start: last + shaping.Time(start), Duration: shaping.Duration(m.DurationPs[i]),
			Run: m.Run[i], Rank: m.Rank[i], Channel: m.Channel[i], Block: m.Block[i], Step: m.Step[i],
			Kind: emu.RecordKind(m.Kind[i]), Peer: m.Peer[i], Port: m.Port[i],
			Bytes: shaping.Bytes(m.MovedBytes[i]),
		})
	}
	return out, nil
}

// checkColumns makes sure that every column has an entry for every record.
func checkColumns(m *railyardv1.Records) error {
	var bad faults
	n := len(m.GetAtDeltaPs())
	for _, c := range []struct {
		name string
		n    int
	}{
		{"ord", len(m.GetOrd())}, {"hop", len(m.GetHop())}, {"index", len(m.GetIndex())},
		{"start_delta_ps", len(m.GetStartDeltaPs())}, {"duration_ps", len(m.GetDurationPs())},
		{"run", len(m.GetRun())}, {"rank", len(m.GetRank())}, {"channel", len(m.GetChannel())},
		{"block", len(m.GetBlock())}, {"step", len(m.GetStep())}, {"kind", len(m.GetKind())},
		{"peer", len(m.GetPeer())}, {"port", len(m.GetPort())}, {"moved_bytes", len(m.GetMovedBytes())},
	} {
		if c.n != n {
			bad.note(fmt.Errorf("%s: %d entries, but at_delta_ps has %d", c.name, c.n, n))
		}
	}
	return bad.in("records")
}

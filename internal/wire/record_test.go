package wire

import (
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/railyard/railyard/emu"
	railyardv1 "github.com/railyard/railyard/proto/railyard/v1"
	"github.com/railyard/railyard/shaping"
)

// someRecords draws records like those of a ring over 32 ranks.
func someRecords(r *rand.Rand, n int) []emu.Record {
	recs := make([]emu.Record, n)
	at := shaping.Time(300 * shaping.Microsecond)
	for i := range recs {
		at = at.Add(shaping.Duration(r.IntN(200_000)))
		took := shaping.Duration(r.IntN(30_000_000))
		recs[i] = emu.Record{
			At: at, Ord: uint64(8)<<60 | uint64(r.IntN(4096))<<32 | uint64(i), Hop: uint32(r.IntN(3)), Index: uint32(r.IntN(2)),
			Start: at.Add(-took), Duration: took,
			Run: int32(r.IntN(2)), Rank: int32(r.IntN(32)), Channel: int32(r.IntN(16)), Block: int32(r.IntN(32)),
			Step: int32(r.IntN(64)), Kind: emu.RecordKind(r.IntN(9)), Peer: int32(r.IntN(33)) - 1, Port: int32(r.IntN(300)),
			Bytes: shaping.Bytes(r.IntN(1 << 20)),
		}
	}
	return recs
}

func TestRecordsRoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	extremes := []emu.Record{
		{},
		{Hop: math.MaxUint32, Index: math.MaxUint32, Ord: math.MaxUint64, Kind: emu.Carry, Peer: -1, Port: -1, Run: math.MinInt32},
		{At: shaping.Never, Start: 0, Duration: math.MaxInt64, Bytes: math.MaxInt64, Rank: math.MaxInt32},
		{At: shaping.Never, Start: shaping.Never},
	}
	for _, want := range [][]emu.Record{nil, extremes, someRecords(r, 1), someRecords(r, 5000)} {
		m := over(t, EncodeRecords(want), &railyardv1.Records{})
		before := []emu.Record{{Rank: 77}}
		got, err := DecodeRecords(before, m)
		if err != nil {
			t.Fatal(err)
		}
		if got[0] != before[0] || len(got) != 1+len(want) {
			t.Fatalf("%d records appended to one make %d", len(want), len(got))
		}
		for i := range want {
			if got[1+i] != want[i] {
				t.Fatalf("record %d: got %+v, want %+v", i, got[1+i], want[i])
			}
		}
	}
}

// The timeline of a large run is most of what the control plane carries.
func TestRecordsAreCompact(t *testing.T) {
	recs := someRecords(rand.New(rand.NewPCG(3, 4)), 10_000)
	if got := proto.Size(EncodeRecords(recs)) / len(recs); got > 36 {
		t.Errorf("a record takes %d bytes on the wire, want at most 36", got)
	}
	full := make([]emu.Record, 100)
	for i := range full {
		full[i] = emu.Record{
			At: shaping.Never, Ord: math.MaxUint64, Hop: math.MaxUint32, Index: math.MaxUint32,
			Duration: -1, Run: math.MinInt32, Rank: math.MinInt32, Channel: math.MinInt32, Block: math.MinInt32,
			Step: math.MinInt32, Kind: emu.Carry, Peer: math.MinInt32, Port: math.MinInt32, Bytes: -1,
		}
	}
	if got := proto.Size(EncodeRecords(full)) / len(full); got*MaxRecords > MaxMessage {
		t.Errorf("MaxRecords records of %d bytes don't fit a message", got)
	}
}

// Every column must be as long as the first, and instants must stay instants.
func TestRecordsThatDontFit(t *testing.T) {
	fresh := func() *railyardv1.Records { return EncodeRecords(someRecords(rand.New(rand.NewPCG(5, 6)), 4)) }
	columns := reflect.TypeOf(railyardv1.Records{})
	tried := 0
	for i := range columns.NumField() {
		f := columns.Field(i)
		if !f.IsExported() || f.Type.Kind() != reflect.Slice {
			continue
		}
		m := fresh()
		v := reflect.ValueOf(m).Elem().Field(i)
		v.Set(v.Slice(0, 3))
		kept := []emu.Record{{Rank: 1}}
		got, err := DecodeRecords(kept, m)
		sayAll(t, err, "entries, but at_delta_ps has")
		if len(got) != 1 {
			t.Errorf("column %s too short: records were appended", f.Name)
		}
		tried++
	}
	if tried != 15 {
		t.Errorf("tried %d columns, want 15", tried)
	}
	for _, c := range []struct {
		damage func(*railyardv1.Records)
		want   string
	}{
		{func(m *railyardv1.Records) { m.AtDeltaPs[1] = -1 }, "at_delta_ps[1] -1: allowed are 0 to"},
		{func(m *railyardv1.Records) { m.AtDeltaPs[3] = math.MaxInt64 }, "at_delta_ps[3] 9223372036854775807: allowed are 0 to"},
		{func(m *railyardv1.Records) { m.StartDeltaPs[2] = math.MinInt64 }, "start_delta_ps[2] -9223372036854775808: allowed are"},
		{func(m *railyardv1.Records) { m.StartDeltaPs[2] = math.MaxInt64 }, "start_delta_ps[2] 9223372036854775807: allowed are"},
	} {
		m := fresh()
		c.damage(m)
		_, err := DecodeRecords(nil, m)
		sayAll(t, err, c.want)
	}
	if got, err := DecodeRecords(nil, nil); err != nil || got != nil {
		t.Errorf("no records decode to %v, %v", got, err)
	}
}

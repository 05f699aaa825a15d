package report

import (
	"testing"

	"github.com/railyard/railyard/collective"
)

func TestNewRow(t *testing.T) {
	for _, c := range []struct {
		op    collective.Op
		redop string
		root  int
	}{
		{collective.AllReduce, "max", -1}, {collective.ReduceScatter, "max", -1}, {collective.Reduce, "max", 3},
		{collective.AllGather, "none", -1}, {collective.AllToAll, "none", -1}, {collective.SendRecv, "none", -1},
		{collective.AllToAllV, "none", -1}, {collective.Barrier, "none", -1},
		{collective.Broadcast, "none", 3}, {collective.Gather, "none", 3}, {collective.Scatter, "none", 3},
	} {
		r := NewRow(c.op, collective.Int64, collective.Max, 3, 1<<10, 4)
		if r.Type != "int64" || r.RedOp != c.redop || r.Root != c.root {
			t.Errorf("%s: type %s, redop %s, root %d; want int64, %s, %d", c.op, r.Type, r.RedOp, r.Root, c.redop, c.root)
		}
	}
}

// What C prints for the same numbers.
func TestNumbers(t *testing.T) {
	for _, c := range []struct {
		v     float64
		width int
		want  string
	}{
		{0, 7, "   0.00"}, {13.456, 7, "  13.46"}, {9999.994, 7, "9999.99"}, {9999.996, 7, "10000.0"},
		{12345.6, 7, "12345.6"}, {123456.7, 7, " 123457"}, {9999999, 7, "9999999"}, {12345678, 7, "1.2e+07"},
		{0.004, 6, "  0.00"}, {370.12, 6, "370.12"}, {1234.56, 6, "1234.6"}, {123456, 6, "123456"}, {1234567, 6, " 1e+06"},
	} {
		if got := fit(c.v, c.width); got != c.want {
			t.Errorf("fit(%v, %d) = %q, want %q", c.v, c.width, got, c.want)
		}
	}
	for _, c := range []struct {
		v    float64
		want string
	}{
		{0, "0"}, {1, "1"}, {123.456789, "123.457"}, {100, "100"}, {999999, "999999"}, {1048576, "1.04858e+06"}, {0.00001234, "1.234e-05"},
	} {
		if got := general(c.v); got != c.want {
			t.Errorf("general(%v) = %q, want %q", c.v, got, c.want)
		}
	}
	if got := microseconds(13_000_001); got != "13.000001" {
		t.Errorf("microseconds = %q, want 13.000001", got)
	}
}

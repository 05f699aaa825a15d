package wire

import (
	"math"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/railyard/railyard/emu/pace"
	railyardv1 "github.com/railyard/railyard/proto/railyard/v1"
	"github.com/railyard/railyard/shaping"
)

// TestLatenessComesBack: each span that was noted is still there.
func TestLatenessComesBack(t *testing.T) {
	want := pace.Lateness{Stall: 7}
	for _, by := range []shaping.Duration{0, 1, 17, shaping.Second, math.MaxInt64} {
		want.Departed(by)
		want.Delivered(by / 3)
		want.Delivered(0)
	}
	text, err := proto.Marshal(EncodeLateness(&want))
	if err != nil {
		t.Fatal(err)
	}
	var m railyardv1.Lateness
	if err := proto.Unmarshal(text, &m); err != nil {
		t.Fatal(err)
	}
	if got, err := DecodeLateness(&m); err != nil || got != want {
		t.Errorf("%+v came back as %+v, %v", want, got, err)
	}
	if got, err := DecodeLateness(nil); err != nil || got != (pace.Lateness{}) {
		t.Errorf("nothing came back as %+v, %v", got, err)
	}
}

// TestLatenessRefused: what no process can have noted is named.
func TestLatenessRefused(t *testing.T) {
	_, err := DecodeLateness(&railyardv1.Lateness{StallNs: -1,
		Departures: &railyardv1.Histogram{Buckets: []uint32{1}, Counts: []uint64{1}, MaxPs: -1},
		Deliveries: &railyardv1.Histogram{Buckets: []uint32{math.MaxUint32}, Counts: []uint64{1}}})
	if err == nil {
		t.Fatal("negative spans, and buckets that are none, are accepted")
	}
	for _, field := range []string{"departures: ", "deliveries: bucket 960 ", "stall_ns"} {
		if !strings.Contains(err.Error(), field) {
			t.Errorf("%q does not name %s", err, field)
		}
	}
}

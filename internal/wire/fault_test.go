package wire

import (
	"strings"
	"testing"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/railyard/railyard/emu"
	railyardv1 "github.com/railyard/railyard/proto/railyard/v1"
)

// Of every parameter that a fault may leave out, presence is known: one that is sent
// and is nothing is refused, but for elements and bits, which are counted from 0 and
// drawn where they are left out, and for a count, of which 0 is one.
func TestFaultsThatSayNothing(t *testing.T) {
	tried := 0
	fields := (&railyardv1.Fault{}).ProtoReflect().Descriptor().Fields()
	for i := range fields.Len() {
		fd := fields.Get(i)
		if !fd.HasOptionalKeyword() {
			continue
		}
		tried++
		m := &railyardv1.Fault{Type: "down"}
		m.ProtoReflect().Set(fd, fd.Default())
		_, err := DecodeFaults([]*railyardv1.Fault{m})
		counted := fd.Name() == "element" || fd.Name() == "bit" || fd.Name() == "count"
		if counted != (err == nil) || err != nil && !strings.Contains(err.Error(), "faults[0]."+string(fd.Name())) {
			t.Errorf("%s sent as nothing: %v", fd.Name(), err)
		}
	}
	if tried < 16 {
		t.Errorf("%d parameters may be left out", tried)
	}
	for _, name := range []protoreflect.Name{"at_ps", "after_ops"} { // 0 is the start, and its default
		if fields.ByName(name).HasOptionalKeyword() {
			t.Errorf("%s of 0 is refused", name)
		}
	}
	fs, err := DecodeFaults([]*railyardv1.Fault{{Type: "bitflip"}})
	if err != nil || fs[0].Element != -1 || fs[0].Bit != -1 {
		t.Errorf("a bit flip that says neither element nor bit: %+v, %v", fs, err)
	}
	for _, n := range []int64{0, emu.NoElements, 7} {
		fs, err := DecodeFaults([]*railyardv1.Fault{encodeFault(&emu.Fault{Type: "mismatch", Count: n})})
		if err != nil || fs[0].Count != n {
			t.Errorf("%d elements: %+v, %v", n, fs, err)
		}
	}
}

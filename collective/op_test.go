package collective

import "testing"

func TestProtocolNames(t *testing.T) {
	for _, p := range Protocols() {
		if got, err := ParseProtocol(p.String()); got != p || err != nil {
			t.Errorf("%s is read as %s, %v", p, got, err)
		}
	}
	_, err := ParseProtocol("LL")
	if want := `protocol "LL": unknown; `; err == nil || err.Error()[:len(want)] != want {
		t.Errorf("%v", err)
	}
}

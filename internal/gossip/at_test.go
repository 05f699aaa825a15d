package gossip

import "testing"

func TestAtPicksThePreset(t *testing.T) {
	for _, c := range []struct {
		addr, bind string
		port       int
		tuning     *tuning
	}{
		{"127.0.0.1:0", "127.0.0.1", 0, &loopback},
		{"127.0.0.9:77", "127.0.0.9", 77, &loopback},
		{"localhost:7946", "127.0.0.1", 7946, &loopback},
		{"0.0.0.0:7946", "0.0.0.0", 7946, &lan},
		{":7946", "0.0.0.0", 7946, &lan},
		{"10.0.0.3:1", "10.0.0.3", 1, &lan},
	} {
		got, err := At(c.addr)
		if err != nil || got.BindAddr != c.bind || got.BindPort != c.port || got.tuning != c.tuning {
			t.Errorf("At(%q) = %s:%d, %v; want %s:%d", c.addr, got.BindAddr, got.BindPort, err, c.bind, c.port)
		}
	}
	for _, bad := range []string{"", "127.0.0.1", "127.0.0.1:http", "a:b:c"} {
		if _, err := At(bad); !Usage(err) {
			t.Errorf("At(%q): %v, want a usage error", bad, err)
		}
	}
}

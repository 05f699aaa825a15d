package gossip

import (
	"flag"
	"os"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if what := os.Getenv(childEnv); what != "" {
		beChild(what)
		return
	}
	flag.Parse()
	if flag.Lookup("test.bench").Value.String() != "" {
		// A benchmark kills what it started, and probes of the dead outlive it.
		os.Exit(m.Run())
	}
	goleak.VerifyTestMain(m)
}

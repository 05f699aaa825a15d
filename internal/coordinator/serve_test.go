package coordinator

import (
	"bytes"
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	reflectionpb "google.golang.org/grpc/reflection/grpc_reflection_v1"

	"github.com/railyard/railyard/emu/sweep"
	"github.com/railyard/railyard/internal/gossip"
	"github.com/railyard/railyard/internal/nodesim"
	"github.com/railyard/railyard/internal/wire"
	railyardv1 "github.com/railyard/railyard/proto/railyard/v1"
)

// served is a coordinator that serves, and its nodesims, in this process.
type served struct {
	t     *testing.T
	addr  string
	at    string // where nodesims join
	nodes []*daemon
	stop  context.CancelFunc // as SIGTERM does
	done  chan struct{}
	err   error // what Serve returned; set before done is closed
}

func serve(t *testing.T, changes ...change) *served {
	t.Helper()
	return serveAs(t, Config{}, changes...)
}

// serveAs is serve with something set.
func serveAs(t *testing.T, config Config, changes ...change) *served {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	s := &served{t: t, stop: stop, done: make(chan struct{})}
	join := make(chan string, 1)
	config.Cluster, config.ClusterID, config.Version, config.Gossip, config.Assembly = trio(), "served", version, gossip.Loopback(), bound
	go func() {
		defer close(s.done)
		s.err = Serve(ctx, config, "127.0.0.1:0", func(service, gossip string) {
			s.addr = service
			join <- gossip
		})
	}()
	t.Cleanup(func() {
		stop()
		_ = s.wait()
	})
	select {
	case s.at = <-join:
	case <-s.done:
		t.Fatalf("serve ended at once: %v", s.err)
	}
	for i := range config.Cluster.Nodes() {
		c := s.config(i)
		for _, change := range changes {
			change(i, &c)
		}
		s.nodes = append(s.nodes, launch(t, c))
	}
	return s
}

// config is that of the nodesim of a node.
func (s *served) config(i int) nodesim.Config {
	return nodesim.Config{Nodes: gossip.List(i), Join: []string{s.at}, Cluster: "served", Version: version,
		Listen: "127.0.0.1:0", Gossip: gossip.Loopback()}
}

func (s *served) wait() error {
	s.t.Helper()
	select {
	case <-s.done:
		return s.err
	case <-time.After(bound):
		s.t.Fatal("serve does not end")
		return nil
	}
}

func (s *served) connect() *Client {
	s.t.Helper()
	c, err := Connect(s.t.Context(), s.addr)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(c.Close)
	return c
}

// bench runs a sweep through a client.
func (s *served) bench(ctx context.Context, spec sweep.Spec) (told, error) {
	s.t.Helper()
	var out told
	var lines bytes.Buffer
	err := s.connect().Bench(ctx, spec, Sink{
		Started: func(st Started) error {
			if st.Cluster.Nodes() != 3 || len(st.Devices) != 9 || st.Procs != 3 {
				s.t.Errorf("a bench on %d nodes, %d devices, %d processes", st.Cluster.Nodes(), len(st.Devices), st.Procs)
			}
			return nil
		},
		Row: func(r Row) error {
			out.rows = append(out.rows, r.Row)
			out.cost.Add(r.Cost)
			return nil
		},
		Timeline: &lines,
	})
	out.timeline = lines.Bytes()
	return out, err
}

// TestServe: the law holds through a client as well, twice in a row, and
// Shutdown ends everything.
func TestServe(t *testing.T) {
	t.Parallel()
	s := serve(t)
	for _, algorithm := range []string{"ring", "tree"} {
		spec := single(algorithm)
		got, err := s.bench(t.Context(), spec)
		if err != nil {
			t.Fatal(err)
		}
		if err := identical(got.timeline, foresee(t, trio(), spec).timeline); err != nil {
			t.Error(err)
		}
		if got.cost.Frames == 0 || len(got.rows) != 1 || !right(got.rows[0].OutOfPlace) {
			t.Errorf("%d frames, rows %+v", got.cost.Frames, got.rows)
		}
	}
	m, err := s.connect().Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if m.GetState() != railyardv1.ClusterState_CLUSTER_STATE_IDLE || len(m.GetMembers()) != 3 || m.GetDeclaredGpus() != 9 {
		t.Errorf("status: %v", m)
	}
	if _, err := s.connect().api.Shutdown(t.Context(), &railyardv1.ShutdownRequest{}); err != nil {
		t.Fatal(err)
	}
	if err := s.wait(); err != nil {
		t.Errorf("serve, after Shutdown: %v", err)
	}
	for i, d := range s.nodes {
		if err := d.wait(t); err != nil {
			t.Errorf("nodesim %d, after Shutdown: %v", i, err)
		}
	}
}

// TestServeSplit: places and communicators reach the other coordinator, and
// come back in the devices; a half that was not run stays so.
func TestServeSplit(t *testing.T) {
	t.Parallel()
	s := serve(t)
	spec := single("ring")
	spec.Order, spec.Split = []int{8, 0, 4, 1, 7, 2}, sweep.Split{Op: sweep.SplitMod, Value: 2}
	var devices []Device
	var rows []sweep.Row
	err := s.connect().Bench(t.Context(), spec, Sink{
		Started: func(st Started) error { devices = st.Devices; return nil },
		Row:     func(r Row) error { rows = append(rows, r.Row); return nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	for r, d := range devices {
		if gpu := spec.Order[r]; d.Rank != r || d.Group != r%2 || d.Node != gpu/3 || d.GPU != gpu%3 {
			t.Errorf("rank %d is %+v, want GPU %d of the cluster in group %d", r, d, gpu, r%2)
		}
	}
	want := foresee(t, trio(), spec).rows
	if len(devices) != 6 || len(rows) != 1 || !right(rows[0].OutOfPlace) || rows[0].OutOfPlace.Time != want[0].OutOfPlace.Time || rows[0].Root != -1 {
		t.Errorf("%d devices, rows %+v; predict says %+v", len(devices), rows, want)
	}
}

// TestServeAnswers: health and reflection answer, and a request that cannot be
// run is refused without harm to the cluster.
func TestServeAnswers(t *testing.T) {
	t.Parallel()
	s := serve(t)
	conn, err := grpc.NewClient(s.addr, wire.DialOptions()...)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	h, err := healthpb.NewHealthClient(conn).Check(t.Context(), &healthpb.HealthCheckRequest{})
	if err != nil || h.GetStatus() != healthpb.HealthCheckResponse_SERVING {
		t.Errorf("health: %v, %v", h, err)
	}
	if names := reflected(t, conn); !slices.Contains(names, railyardv1.CoordinatorService_ServiceDesc.ServiceName) {
		t.Errorf("reflection lists %v", names)
	}
	bad := single("ring")
	bad.Order = []int{0, 9}
	if _, err := s.bench(t.Context(), bad); cause(t, err).Cause != wire.Config || !strings.Contains(err.Error(), "GPU 9 is unknown") {
		t.Errorf("a rank on no GPU: %v", err)
	}
	if _, err := s.bench(t.Context(), single("ring")); err != nil {
		t.Errorf("a bench after one that was refused: %v", err)
	}
}

// reflected returns the services that a server lists.
func reflected(t *testing.T, conn *grpc.ClientConn) (names []string) {
	t.Helper()
	stream, err := reflectionpb.NewServerReflectionClient(conn).ServerReflectionInfo(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	err = stream.Send(&reflectionpb.ServerReflectionRequest{MessageRequest: &reflectionpb.ServerReflectionRequest_ListServices{}})
	if err != nil {
		t.Fatal(err)
	}
	m, err := stream.Recv()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range m.GetListServicesResponse().GetService() {
		names = append(names, s.GetName())
	}
	return names
}

// TestServeOutlivesClients: a client that goes away in the middle of a bench
// loses it, and the next one finds the cluster as it was.
func TestServeOutlivesClients(t *testing.T) {
	t.Parallel()
	pause, begun, release := paused(0)
	s := serve(t, pause)
	t.Cleanup(release)
	ctx, hangUp := context.WithTimeout(t.Context(), bound)
	defer hangUp()
	go func() {
		<-begun
		hangUp()
	}()
	if _, err := s.bench(ctx, single("ring")); err == nil {
		t.Error("the bench ended as if nobody had hung up")
	}
	release()
	if _, err := s.bench(t.Context(), single("ring")); err != nil {
		t.Errorf("a bench after one whose client hung up: %v", err)
	}
}

// TestServeEnds: a signal in the middle of a bench ends it, and the server well.
func TestServeEnds(t *testing.T) {
	t.Parallel()
	pause, begun, release := paused(0)
	s := serve(t, pause)
	t.Cleanup(release)
	go func() {
		<-begun
		s.stop()
	}()
	if _, err := s.bench(t.Context(), single("ring")); err == nil {
		t.Error("the bench ended as if nothing had happened")
	}
	release() // the nodesim waits for frames, not for the test
	if err := s.wait(); err != nil {
		t.Errorf("the server ended with %v", err)
	}
}

// TestServeLoses: a nodesim that dies in the middle of a bench ends the bench,
// which names it, and so does status. The cluster goes on: when a process is
// started in its place it runs as before, with the nodesims that were there.
func TestServeLoses(t *testing.T) {
	t.Parallel()
	pause, begun, release := paused(0)
	s := serve(t, pause)
	t.Cleanup(release)
	go func() {
		<-begun
		s.nodes[1].stop()
	}()
	_, err := s.bench(t.Context(), single("ring"))
	if f := cause(t, err); f.Cause != wire.PeerLost || !strings.Contains(f.Text, "node 1 lost") || f.Took <= 0 {
		t.Errorf("the bench ended with %v", f)
	}
	release() // the nodesim waits for frames, not for the test
	s.restart(1)
	s.works("ring")
	m, err := s.connect().Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if l := m.GetLost(); m.GetState() != railyardv1.ClusterState_CLUSTER_STATE_IDLE || l.GetMember() != "node1" || l.GetDetectWallNs() <= 0 {
		t.Errorf("status: %v", m)
	}
}

// TestServeMourns: a nodesim that dies while nothing runs is named when the
// next bench is asked for, for as long as nobody takes its place.
func TestServeMourns(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.works("tree")
	s.nodes[2].stop()
	_ = s.nodes[2].wait(t)
	_, err := s.bench(t.Context(), single("tree"))
	if f := cause(t, err); f.Cause != wire.PeerLost || !strings.Contains(f.Text, "node 2 lost") {
		t.Errorf("the bench ended with %v", f)
	}
	s.restart(2)
	s.works("tree")
}

// restart starts a nodesim again, under its name.
func (s *served) restart(i int) {
	s.t.Helper()
	_ = s.nodes[i].wait(s.t)
	s.nodes[i] = launch(s.t, s.config(i))
}

// works runs a bench, by the law.
func (s *served) works(algorithm string) {
	s.t.Helper()
	spec := single(algorithm)
	got, err := s.bench(s.t.Context(), spec)
	for late := time.Now().Add(bound); err != nil && time.Now().Before(late); {
		// One that was lost is named until its successor is there.
		if f := cause(s.t, err); f.Cause != wire.PeerLost {
			break
		}
		got, err = s.bench(s.t.Context(), spec)
	}
	if err != nil {
		s.t.Fatal(err)
	}
	if err := identical(got.timeline, foresee(s.t, trio(), spec).timeline); err != nil {
		s.t.Error(err)
	}
}

// TestServeTaken: an address that is taken is the user's to change.
func TestServeTaken(t *testing.T) {
	t.Parallel()
	s := serve(t)
	err := Serve(t.Context(), Config{Cluster: trio(), Version: version, Gossip: gossip.Loopback()}, s.addr,
		func(string, string) { t.Error("it serves") })
	if f := cause(t, err); f.Cause != wire.Config || !strings.Contains(f.Text, "--listen "+s.addr) {
		t.Errorf("%v", f)
	}
	if _, err := Connect(t.Context(), "127.0.0.1:1"); cause(t, err).Cause != wire.Config {
		t.Errorf("a coordinator that is not there: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Connect(ctx, s.addr); !errors.Is(err, context.Canceled) {
		t.Errorf("a user who gave up: %v", err)
	}
}

// TestServeShowsWhoHasJoined: while nodes are missing, status names those that
// are there: it is how one finds out which are not.
func TestServeShowsWhoHasJoined(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	addr := make(chan string, 1)
	ended := make(chan error, 1)
	config := Config{Cluster: eight(false), ClusterID: "rig", Version: version, Gossip: gossip.Loopback(), Assembly: bound}
	go func() {
		ended <- Serve(ctx, config, "127.0.0.1:0", func(service, join string) {
			launch(t, nodesim.Config{Name: "early", Nodes: gossip.Nodes{{First: 3, Last: 4}}, Join: []string{join}, Cluster: "rig",
				Version: version, Listen: "127.0.0.1:0", Gossip: gossip.Loopback()})
			addr <- service
		})
	}()
	client, err := Connect(ctx, <-addr)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	for deadline := time.Now().Add(bound); ; runtime.Gosched() {
		m, err := client.Status(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if all := m.GetMembers(); len(all) == 1 && all[0].GetName() == "early" && slices.Equal(all[0].GetNodes(), []uint32{3, 4}) {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("status shows %v", m.GetMembers())
		}
	}
	stop()
	if err := <-ended; err != nil {
		t.Errorf("the server ended with %v", err)
	}
}

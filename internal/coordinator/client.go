package coordinator

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"google.golang.org/grpc"

	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/sweep"
	"github.com/railyard/railyard/internal/wire"
	railyardv1 "github.com/railyard/railyard/proto/railyard/v1"
	"github.com/railyard/railyard/shaping"
)

// Client is a coordinator that serves elsewhere.
type Client struct {
	addr string
	conn *grpc.ClientConn
	api  railyardv1.CoordinatorServiceClient
}

// reach bounds how long a coordinator may take to answer at all.
const reach = 5 * time.Second

// Connect makes sure that a coordinator answers at addr.
func Connect(ctx context.Context, addr string) (*Client, error) {
	conn, err := grpc.NewClient(addr, wire.DialOptions()...)
	if err != nil {
		return nil, wire.Failf(wire.Config, "--connect %s: %v", addr, err)
	}
	c := &Client{addr: addr, conn: conn, api: railyardv1.NewCoordinatorServiceClient(conn)}
	if _, err := c.Status(ctx); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return c, nil
}

// Close lets go of the connection.
func (c *Client) Close() { _ = c.conn.Close() }

// Status asks who is there and what goes on.
func (c *Client) Status(ctx context.Context) (*railyardv1.StatusResponse, error) {
	limited, cancel := context.WithTimeout(ctx, reach)
	defer cancel()
	m, err := c.api.Status(limited, &railyardv1.StatusRequest{})
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, wire.Failf(wire.Config, "--connect %s: no coordinator answers there: %v", c.addr, wire.FromStatus(err).Text)
	}
	return m, nil
}

// Bench runs a sweep on the other coordinator's cluster.
func (c *Client) Bench(ctx context.Context, spec sweep.Spec, sink Sink) error {
	stream, err := c.api.Bench(ctx, wire.EncodeSpec(&spec, sink.Timeline != nil))
	if err != nil {
		return c.failure(ctx, err)
	}
	for {
		m, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return c.failure(ctx, err)
		}
		if err := c.take(m, sink); err != nil {
			return err
		}
	}
}

// Live is what becomes of a bench that runs when faults change.
type Live struct {
	Running string // what runs; empty: nothing does
	// At is the instant of its clock at which they change; 0: not in this bench, or not yet.
	At  shaping.Time
	But string // why not, or what stays as it is
}

func decodeLive(m *railyardv1.LiveChange) Live {
	return Live{m.GetRunning(), shaping.Time(m.GetAtPs()), m.GetBut()}
}

// AddFaults puts faults in force on the other coordinator's cluster: in the bench that
// runs, if one does, where their instants count from the one that it has come to, and
// from the next one on. It returns them with their names.
func (c *Client) AddFaults(ctx context.Context, faults ...emu.Fault) ([]emu.Fault, Live, error) {
	m, err := c.api.AddFault(ctx, &railyardv1.AddFaultRequest{Faults: wire.EncodeFaults(faults)})
	all, err := c.faults(ctx, m.GetFaults(), err)
	return all, decodeLive(m.GetLive()), err
}

// Faults lists those in force.
func (c *Client) Faults(ctx context.Context) ([]emu.Fault, error) {
	m, err := c.api.ListFaults(ctx, &railyardv1.ListFaultsRequest{})
	return c.faults(ctx, m.GetFaults(), err)
}

// RemoveFaults takes those of some names back, or all when none is named: in the bench
// that runs as well. It returns them.
func (c *Client) RemoveFaults(ctx context.Context, names ...string) ([]emu.Fault, Live, error) {
	m, err := c.api.RemoveFaults(ctx, &railyardv1.RemoveFaultsRequest{Names: names, All: len(names) == 0})
	all, err := c.faults(ctx, m.GetRemoved(), err)
	return all, decodeLive(m.GetLive()), err
}

func (c *Client) faults(ctx context.Context, ms []*railyardv1.Fault, err error) ([]emu.Fault, error) {
	if err != nil {
		return nil, c.failure(ctx, err)
	}
	return wire.DecodeFaults(ms)
}

// Explain says what the last bench there did.
func (c *Client) Explain(ctx context.Context) (*railyardv1.ExplainResponse, error) {
	m, err := c.api.Explain(ctx, &railyardv1.ExplainRequest{})
	if err != nil {
		return nil, c.failure(ctx, err)
	}
	return m, nil
}

// Shutdown ends the other coordinator and its cluster; it answers before it has.
func (c *Client) Shutdown(ctx context.Context, reason string) error {
	if _, err := c.api.Shutdown(ctx, &railyardv1.ShutdownRequest{Reason: reason}); err != nil {
		return c.failure(ctx, err)
	}
	return nil
}

func (c *Client) failure(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	f := wire.FromStatus(err)
	if f.Cause == wire.PeerLost && f.Member == "" && f.At == wire.NoInstant {
		f.Text = fmt.Sprintf("the coordinator at %s is gone: %s", c.addr, f.Text)
	}
	return f
}

func (c *Client) take(m *railyardv1.BenchResponse, sink Sink) error {
	switch {
	case m.GetStarted() != nil:
		return c.started(m.GetStarted(), sink)
	case m.GetRow() != nil:
		r, err := wire.DecodeRow(m.GetRow())
		if err != nil {
			return wire.Failf(wire.Mismatch, "%s: %v", c.addr, err)
		}
		p, err := decodePace(m.GetRow().GetPace())
		if err != nil {
			return wire.Failf(wire.Mismatch, "%s: %v", c.addr, err)
		}
		k := m.GetRow().GetCost()
		return sink.Row(Row{Row: r, Pace: p, Explain: m.GetRow().GetExplain(), Cost: Cost{Rounds: k.GetRounds(), Grants: k.GetGrants(),
			Frames: k.GetFrames(), Events: k.GetEvents(), Wall: time.Duration(k.GetWallNs())}})
	case m.GetChanged() != nil && sink.Changed != nil:
		sink.Changed(Change{shaping.Time(m.GetChanged().GetAtPs()), m.GetChanged().GetSays()})
		return nil
	case m.GetProgress() != nil && sink.Doing != nil:
		sink.Doing(m.GetProgress().GetDoing())
		return nil
	case m.GetTimeline() != nil && sink.Timeline != nil:
		_, err := sink.Timeline.Write(m.GetTimeline().GetLines())
		return err
	default:
		return nil // the summary says nothing that rows have not
	}
}

func (c *Client) started(m *railyardv1.BenchStarted, sink Sink) error {
	cluster, err := emu.ParseCluster(fmt.Sprintf("the cluster of %s", c.addr), []byte(m.GetEffectiveYaml()))
	if err != nil {
		return wire.Failf(wire.Mismatch, "%v", err)
	}
	s := Started{Cluster: cluster, Rows: int(m.GetRows()), Procs: int(m.GetProcesses())}
	for _, d := range m.GetDevices() {
		s.Devices = append(s.Devices, Device{Rank: int(d.GetRank()), Node: int(d.GetNode()), GPU: int(d.GetGpu()), Group: int(d.GetGroup()),
			PID: d.GetPid(), Model: d.GetName()})
	}
	return sink.Started(s)
}

package coordinator

import (
	"bytes"

	"github.com/railyard/railyard/internal/wire"
	railyardv1 "github.com/railyard/railyard/proto/railyard/v1"
)

// sender turns a bench into the messages of its stream.
type sender struct {
	stream railyardv1.CoordinatorService_BenchServer
	cost   Cost
}

func (o *sender) send(m *railyardv1.BenchResponse) error {
	if o.stream.Context().Err() != nil || o.stream.Send(m) != nil {
		return errHungUp
	}
	return nil
}

func (o *sender) started(s Started) error {
	m := &railyardv1.BenchStarted{EffectiveYaml: string(s.Cluster.YAML()), Rows: uint32(s.Rows), Processes: uint32(s.Procs)}
	for _, d := range s.Devices {
		m.Devices = append(m.Devices, &railyardv1.Device{Rank: uint32(d.Rank), Node: uint32(d.Node),
			Gpu: uint32(d.GPU), Group: uint32(d.Group), Pid: d.PID, Name: d.Model})
	}
	return o.send(&railyardv1.BenchResponse{Response: &railyardv1.BenchResponse_Started{Started: m}})
}

func (o *sender) row(r Row) error {
	o.cost.Add(r.Cost)
	m := wire.EncodeRow(&r.Row)
	m.Cost, m.Explain, m.Pace = encodeCost(&r.Cost), r.Explain, encodePace(r.Pace)
	return o.send(&railyardv1.BenchResponse{Response: &railyardv1.BenchResponse_Row{Row: m}})
}

// doing says what goes on. That nobody listens must not break off the batch.
func (o *sender) doing(what string) {
	_ = o.send(&railyardv1.BenchResponse{Response: &railyardv1.BenchResponse_Progress{Progress: &railyardv1.BenchProgress{Doing: what}}})
}

// changed tells of faults. That nobody listens must not break off the batch.
func (o *sender) changed(c Change) {
	_ = o.send(&railyardv1.BenchResponse{Response: &railyardv1.BenchResponse_Changed{Changed: &railyardv1.FaultChange{AtPs: int64(c.At), Says: c.Says}}})
}

// Write sends a piece of the timeline. That nobody takes it must not break off
// the batch; the next row will tell.
func (o *sender) Write(b []byte) (int, error) {
	m := &railyardv1.TimelineChunk{Lines: bytes.Clone(b)}
	_ = o.send(&railyardv1.BenchResponse{Response: &railyardv1.BenchResponse_Timeline{Timeline: m}})
	return len(b), nil
}

func encodeCost(c *Cost) *railyardv1.EmulationCost {
	return &railyardv1.EmulationCost{Rounds: c.Rounds, Grants: c.Grants, Frames: c.Frames, Events: c.Events, WallNs: int64(c.Wall)}
}

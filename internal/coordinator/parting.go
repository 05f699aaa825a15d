package coordinator

import (
	"slices"
	"sync"

	"go.uber.org/zap"

	"github.com/railyard/railyard/emu/fault"
	"github.com/railyard/railyard/internal/gossip"
	railyardv1 "github.com/railyard/railyard/proto/railyard/v1"
	"github.com/railyard/railyard/shaping"
)

// An emulated partition keeps processes apart in gossip as well, so that each side
// declares the other dead. The coordinator is on the side of the lowest node that
// the partition names, as a launcher is on that of rank 0: if it were on both,
// probes would go by way of it and nobody would notice anything. A process that
// hosts nodes of two sides is on both all the same. Sessions and the streams
// between nodesims are the emulator's own wire, and stay.

// parting keeps gossip as partitions have it. Participants are the members and, last,
// the coordinator.
type parting struct {
	mu     sync.Mutex
	apart  [][]bool        // who is cut off from whom now; nil: nobody ever was
	met    [][]bool        // who has met since: of those that are strange to each other, false
	beyond []gossip.Beyond // what each is to be told
	turn   chan struct{}   // holds a token when that has changed
}

// part puts partitions in force in gossip, each given as the side of every node, and
// ends all others. It does not wait until all have heard.
func (k *Cluster) part(sides [][]int) {
	p, n := &k.parting, len(k.members)
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(sides) == 0 && p.apart == nil {
		return
	}
	if p.apart == nil {
		p.met = square(n+1, true)
	}
	p.beyond = k.beyond(sides)
	p.apart = square(n+1, false)
	for i := range p.apart {
		for j := range p.apart {
			p.apart[i][j] = k.cutOff(p.beyond, i, j)
			p.met[i][j] = p.met[i][j] && !p.apart[i][j]
		}
	}
	select {
	case p.turn <- struct{}{}:
	default:
	}
}

func square(n int, value bool) [][]bool {
	all := make([][]bool, n)
	for i := range all {
		all[i] = slices.Repeat([]bool{value}, n)
	}
	return all
}

// beyond returns for each participant the nodes that all of its own are apart from.
func (k *Cluster) beyond(sides [][]int) []gossip.Beyond {
	n := len(k.members)
	all := make([]gossip.Beyond, n+1)
	for i := range all {
		var far []int
		for q := range k.owners.Node {
			apart := func(p int) bool {
				return slices.ContainsFunc(sides, func(s []int) bool { return s[p] >= 0 && s[q] >= 0 && s[p] != s[q] })
			}
			if i == n {
				apart = func(int) bool {
					return slices.ContainsFunc(sides, func(s []int) bool { return s[q] >= 0 && s[q] != lowest(s) })
				}
			}
			if k.every(i, apart) {
				far = append(far, q)
			}
		}
		all[i].Nodes = gossip.List(far...)
	}
	for i := range k.members {
		all[i].Coordinators = k.every(i, all[n].Nodes.Contains)
	}
	return all
}

// lowest returns the side of the lowest node that has one.
func lowest(side []int) int {
	return side[slices.IndexFunc(side, func(s int) bool { return s >= 0 })]
}

// every reports whether something holds for every node that a participant hosts; of
// the coordinator, which hosts none, it is asked once.
func (k *Cluster) every(i int, holds func(node int) bool) bool {
	if i == len(k.members) {
		return holds(-1)
	}
	for n := range k.members[i].Nodes.All() {
		if !holds(n) {
			return false
		}
	}
	return true
}

// cutOff reports whether participant j is beyond the reach of i.
func (k *Cluster) cutOff(beyond []gossip.Beyond, i, j int) bool {
	if j == len(k.members) {
		return beyond[i].Coordinators
	}
	return k.every(j, beyond[i].Nodes.Contains)
}

// warden tells members when partitions begin and end. The end of their sessions mends
// their gossip, and that of the cluster the coordinator's.
func (k *Cluster) warden() {
	told := make([]gossip.Beyond, len(k.members)+1)
	for {
		select {
		case <-k.parting.turn:
		case <-k.ctx.Done():
			if told[len(k.members)].Nodes != nil {
				k.roster.Cut(gossip.Beyond{})
			}
			return
		}
		k.parting.mu.Lock()
		beyond := k.parting.beyond
		k.parting.mu.Unlock()
		for i, b := range beyond {
			if b.Coordinators == told[i].Coordinators && slices.Equal(b.Nodes, told[i].Nodes) {
				continue
			}
			k.log.Info("cut off", zap.String("member", k.nameOf(i)), zap.Stringer("nodes", b.Nodes), zap.Bool("coordinator", b.Coordinators))
			if i == len(k.members) {
				k.roster.Cut(b)
				continue
			}
			m := &railyardv1.Sever{Coordinator: b.Coordinators}
			for n := range b.Nodes.All() {
				m.Nodes = append(m.Nodes, uint32(n))
			}
			k.members[i].send(&railyardv1.SessionRequest{Request: &railyardv1.SessionRequest_Sever{Sever: m}})
		}
		told = beyond
	}
}

func (k *Cluster) nameOf(i int) string {
	if i == len(k.members) {
		return string(gossip.Coordinator)
	}
	return k.members[i].Name
}

// deafness is how many times as long as others a member may take to answer that
// gossip cannot tell of.
const deafness = 4 // assumed: as long as gossip takes to be sure, and the answer

// estranged reports whether the coordinator's gossip can tell nothing of a member: a
// partition keeps them apart, or did and they have yet to meet.
func (k *Cluster) estranged(m *member) bool {
	p, n := &k.parting, len(k.members)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.apart == nil || p.met[n][m.index] {
		return false
	}
	p.met[n][m.index] = !p.apart[n][m.index] && k.present(m)
	return !p.met[n][m.index]
}

// rest puts those partitions in force in gossip that are between benches: the emulated
// clock stands at 0, where the next will begin. It needs the state's lock.
func (s *Server) rest() {
	if s.cluster == nil || s.running != "" {
		return // a bench has its own
	}
	f, err := fault.Fabric(s.config.Cluster, s.faults)
	if err != nil {
		return // bearable has seen to it that there is none
	}
	schedule, err := fault.Compile(f, s.faults, s.config.Cluster.Seed, horizon)
	if err != nil {
		return
	}
	sides, _ := schedule.Partitions(0)
	s.cluster.part(sides)
}

// divided is what gossip was told last of a session's partitions.
type divided struct {
	schedule    *fault.Schedule
	from, until shaping.Time
}

// divide keeps gossip as the partitions of a session have it at an instant of its
// time. What comes and goes sooner than members can be told they never hear of.
func (s *session) divide(at shaping.Time) {
	d := &s.divided
	if s.schedule == nil || d.schedule == s.schedule && d.from <= at && at < d.until {
		return
	}
	sides, until := s.schedule.Partitions(at)
	*d = divided{s.schedule, at, until}
	s.part(sides)
}

// reached is the instant up to which a batch has come.
func (s *session) reached() shaping.Time {
	if h := s.conductor.Horizon(); h != shaping.Never {
		return h
	}
	return s.conductor.Now()
}

package coordinator

import (
	"context"
	"slices"
	"sync"
	"time"

	railyardv1 "github.com/railyard/railyard/proto/railyard/v1"
)

// rifts says who does not hear whom in the cluster there is.
func (s *Server) rifts(ctx context.Context) []*railyardv1.Rift {
	s.state.Lock()
	k := s.cluster
	s.state.Unlock()
	if k == nil {
		return nil
	}
	return k.rifts(ctx)
}

// hearing bounds how long members may take to say whom they hear.
const hearing = time.Second

// rifts says who does not hear whom, where partitions keep members apart or did. It
// asks the members.
func (k *Cluster) rifts(ctx context.Context) []*railyardv1.Rift {
	p := &k.parting
	p.mu.Lock()
	never := p.apart == nil
	p.mu.Unlock()
	if never {
		return nil
	}
	heard := k.hearsay(ctx)
	p.mu.Lock()
	defer p.mu.Unlock()
	var parted, noticed, lingering grouping
	for _, i := range k.byRole() {
		var whole [3][]string
		for _, j := range k.byRole() {
			name := k.nameOf(j)
			deaf := heard[i] != nil && !slices.Contains(heard[i], name)
			switch {
			case p.apart[i][j] && deaf:
				whole[0] = append(whole[0], name)
			case p.apart[i][j]:
				whole[1] = append(whole[1], name)
			case !p.met[i][j] && deaf:
				whole[2] = append(whole[2], name)
			case heard[i] != nil:
				p.met[i][j] = true
			}
		}
		noticed.add(k.nameOf(i), whole[0])
		parted.add(k.nameOf(i), whole[1])
		lingering.add(k.nameOf(i), whole[2])
	}
	return slices.Concat(noticed.rifts(true, true), parted.rifts(true, false), lingering.rifts(false, true))
}

// byRole lists the participants, the coordinator first.
func (k *Cluster) byRole() []int {
	all := []int{len(k.members)}
	for i := range k.members {
		all = append(all, i)
	}
	return all
}

// hearsay returns the names that each participant hears; nil of one that says
// nothing.
func (k *Cluster) hearsay(ctx context.Context) [][]string {
	ctx, cancel := context.WithTimeout(ctx, hearing)
	defer cancel()
	all := make([][]string, len(k.members)+1)
	var asked sync.WaitGroup
	for i, m := range k.members {
		asked.Go(func() {
			if r, err := railyardv1.NewNodeServiceClient(m.conn).Hears(ctx, &railyardv1.HearsRequest{}); err == nil {
				all[i] = r.GetMembers()
			}
		})
	}
	asked.Wait()
	for _, m := range k.roster.Members() {
		all[len(k.members)] = append(all[len(k.members)], m.Name)
	}
	return all
}

// grouping gathers members that are cut off from the same others.
type grouping struct{ groups []*railyardv1.Rift }

func (g *grouping) add(member string, from []string) {
	if len(from) == 0 {
		return
	}
	for _, r := range g.groups {
		if slices.Equal(r.From, from) {
			r.Members = append(r.Members, member)
			return
		}
	}
	g.groups = append(g.groups, &railyardv1.Rift{Members: []string{member}, From: from})
}

func (g *grouping) rifts(parted, noticed bool) []*railyardv1.Rift {
	for _, r := range g.groups {
		r.Parted, r.Noticed = parted, noticed
	}
	return g.groups
}

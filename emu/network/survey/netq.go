package survey

import (
	"encoding/json"
	"errors"
)

// netqGraph is an answer of NetQ: tiers of nodes, and bundles of links between
// them.
type netqGraph struct {
	Nodes []struct {
		Compounded []netqNode `json:"compounded_nodes"`
	} `json:"nodes"`
	Links []netqLink `json:"links"`
}

type netqNode struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Type string `json:"device_type"`
	Tier int    `json:"tier"`
}

type netqLink struct {
	Compounded []struct{} `json:"compounded_links"`
	Src        string     `json:"src"`
	Target     string     `json:"target"`
	Size       int        `json:"size"`
}

// errJSON refuses JSON that tells no network.
var errJSON = errors.New("JSON, but neither an answer of NetQ's topology API (its nodes have compounded_nodes; a token or a list of machines tells no network) nor containerlab, InfraGraph, Slurm or topograph as JSON")

// readNetQ reads an answer of NetQ's topology API. It is called for any JSON.
func readNetQ(data []byte) (*Survey, error) {
	var all []netqGraph
	err := json.Unmarshal(data, &all)
	if err != nil { // one answer, without the list around it
		all = make([]netqGraph, 1)
		err = json.Unmarshal(data, &all[0])
	}
	if err != nil {
		return nil, errJSON
	}
	s := &Survey{Kind: "NetQ topology"}
	for _, g := range all {
		if err := s.netq(&g); err != nil {
			return nil, err
		}
	}
	if len(s.Hosts)+len(s.Switches) == 0 {
		return nil, errJSON
	}
	s.Say(Missing, "NetQ's answer has no rates and no latencies")
	return s, nil
}

func (s *Survey) netq(g *netqGraph) error {
	names := map[string]string{} // by id
	for _, tier := range g.Nodes {
		for _, n := range tier.Compounded {
			name := n.Name
			if _, taken := s.find(name); taken || name == "" {
				name = n.ID
			}
			names[n.ID] = name
			if _, err := s.add(name, n.Type == "switch"); err != nil {
				return err
			}
		}
	}
	for _, l := range g.Links {
		a, okA := s.find(names[l.Src])
		b, okB := s.find(names[l.Target])
		if !okA || !okB {
			s.Say(Odd, "a link joins %q and %q, and not both are among the nodes; left out", clip(l.Src), clip(l.Target))
			continue
		}
		count := max(len(l.Compounded), 1)
		if l.Size != 0 && l.Size != count {
			s.Say(Odd, "the link of %s and %s says size %d and lists %d; the list counts", clip(names[l.Src]), clip(names[l.Target]), l.Size, count)
		}
		for range min(count, maxParallel+1) {
			if err := s.join(a, b, 0, 0); err != nil {
				return err
			}
		}
	}
	return nil
}

package wiring

// lane is what connects two ranks on a channel: at most one connection.
type lane struct{ from, to, channel int }

// ends are the ends of connections that a hosted rank may look for at its peers.
// Each peer is asked for its blocks once, and only what concerns hosted ranks is
// kept: an all-to-all of a thousand ranks has a million connections, and making
// the blocks of a rank takes as long as finding one of them.
type ends struct {
	sends    map[lane]sends // to hosted ranks
	receives map[lane]bool  // from hosted ranks, by ranks that are elsewhere
}

// sends is the connection found on a lane, and how many there are: one, if all
// is well.
type sends struct {
	conn ConnID
	n    int
}

func (w *Wiring) ends() ends {
	e := ends{sends: make(map[lane]sends, len(w.Conns)), receives: map[lane]bool{}}
	for i := range w.Conns {
		c := &w.Conns[i]
		if _, hosted := w.byRank[c.To]; hosted {
			e.sent(lane{c.From, c.To, c.Channel}, c.ID)
		}
	}
	for _, peer := range w.elsewhere() {
		blocks := w.Plan.Rank(peer)
		for i := range blocks {
			b := &blocks[i]
			for k, to := range b.SendTo {
				if _, hosted := w.byRank[to]; hosted {
					e.sent(lane{peer, to, b.Channel}, id(w.Plan, w.base, peer, i).Conn(k))
				}
			}
			for _, from := range b.RecvFrom {
				if _, hosted := w.byRank[from]; hosted {
					e.receives[lane{from, peer, b.Channel}] = true
				}
			}
		}
	}
	return e
}

func (e *ends) sent(l lane, c ConnID) {
	s := e.sends[l]
	e.sends[l] = sends{c, s.n + 1}
}

// elsewhere returns the ranks that the hosted ones talk to and that are not
// hosted themselves.
func (w *Wiring) elsewhere() (peers []int) {
	met := make([]bool, w.Plan.Ranks)
	for i := range w.Blocks {
		for _, list := range [2][]int{w.Blocks[i].SendTo, w.Blocks[i].RecvFrom} {
			for _, r := range list {
				if r < 0 || r >= len(met) || met[r] {
					continue
				}
				met[r] = true
				if _, hosted := w.byRank[r]; !hosted {
					peers = append(peers, r)
				}
			}
		}
	}
	return peers
}

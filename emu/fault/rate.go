package fault

import (
	"github.com/railyard/railyard/emu/fabric"
	"github.com/railyard/railyard/shaping"
)

// rate narrows a part. Where messages are spread over parallel links, their port
// loses the part that the narrow ones bring.
var rate = Kind{
	Word: "rate", Family: "fabric",
	Also:     []string{"bandwidth", "rate-limit", "nic-slow"},
	Strikes:  []Class{NIC, Switch, Link},
	Means:    "it runs at share of its rate, or at rate",
	Hardware: "a link that trained at fewer lanes or a lower speed: a ring is as slow as its slowest link. ibdiagnet and a health check would report it",
	Source:   "Toxiproxy: bandwidth; netem(8): rate",
	takes:    lasts + " share rate",
	compile:  compileRate,
}

func compileRate(s *strike) {
	if (s.Share == 0) == (s.Rate == 0) {
		s.say("share", "give share or rate, and more than 0; what carries nothing is down")
		return
	}
	for _, h := range s.hits(false) {
		share := s.Share
		if s.Rate > 0 {
			if share = s.shareOf(h); share == 0 {
				return
			}
		}
		s.suffer([]fabric.Hit{h}, func(h fabric.Hit) State { return left(h, share) })
	}
}

// shareOf returns what share of one of a port's links the fault's rate is, 0 when it
// is none.
func (s *strike) shareOf(h fabric.Hit) int64 {
	link := s.f.Port(h.Port).Rate / shaping.Rate(h.Of)
	if !s.f.Shares(h.Port) { // a NIC's, of every plane
		link *= shaping.Rate(h.Lost)
	}
	if usable := s.f.Link().Usable; usable > 0 { // rates are told as they are sold
		link = link / shaping.Rate(usable) * 1000
	}
	if s.Rate >= link {
		s.say("rate", "%v: %s has %v, and it must be less", s.Rate, s.f.PortName(h.Port), link)
		return 0
	}
	return max(int64(s.Rate)/1000*Whole/max(int64(link)/1000, 1), 1)
}

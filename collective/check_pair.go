package collective

// link is a connection: the one FIFO from a rank to another on a channel.
type link struct {
	lane
	sender, receiver int     // positions in proof.blocks
	sends, recvs     []int32 // steps, message by message
}

// lane is what a connection is known by: ranks, their units, the channel.
type lane struct {
	from, to, channel int
	out, in           Unit // of the sender, and of the receiver
}

// pair joins the ends of connections, and the ends of each message.
func (f *proof) pair() error {
	known := map[lane]int{}
	if err := f.pairSenders(known); err != nil {
		return err
	}
	if err := f.pairReceivers(known); err != nil {
		return err
	}
	for i := range f.links {
		l := &f.links[i]
		if l.receiver < 0 {
			return problem(f.blocks[l.sender].place(-1), Unpaired, "sends to rank %d on channel %d, where no block receives from rank %d", l.to, l.channel, l.from)
		}
	}
	f.listMessages()
	for i := range f.links {
		if err := f.pairMessages(&f.links[i]); err != nil {
			return err
		}
	}
	f.listOrigins()
	return nil
}

func (f *proof) pairSenders(known map[lane]int) error {
	for i := range f.blocks {
		b := &f.blocks[i]
		for n, to := range b.SendTo {
			k := lane{b.rank, to, b.Channel, b.Unit, b.To(n)}
			if j, twice := known[k]; twice {
				return problem(b.place(-1), Unpaired, "sends to rank %d on channel %d, as block %d does already; a connection has one sender", to, b.Channel, f.blocks[f.links[j].sender].index)
			}
			known[k] = len(f.links)
			b.sends = append(b.sends, len(f.links))
			f.links = append(f.links, link{lane: k, sender: i, receiver: -1})
		}
	}
	return nil
}

func (f *proof) pairReceivers(known map[lane]int) error {
	for i := range f.blocks {
		b := &f.blocks[i]
		for n, from := range b.RecvFrom {
			j, ok := known[lane{from, b.rank, b.Channel, b.From(n), b.Unit}]
			if !ok {
				return problem(b.place(-1), Unpaired, "receives from rank %d on channel %d, where no block sends to rank %d", from, b.Channel, b.rank)
			}
			if r := f.links[j].receiver; r >= 0 {
				return problem(b.place(-1), Unpaired, "receives from rank %d on channel %d, as block %d does already; a connection has one receiver", from, b.Channel, f.blocks[r].index)
			}
			f.links[j].receiver = i
			b.recvs = append(b.recvs, j)
		}
	}
	return nil
}

// listMessages lists the steps that send and receive on each connection.
func (f *proof) listMessages() {
	for i := range f.blocks {
		b := &f.blocks[i]
		for k := range b.Steps {
			s, id := &b.Steps[k], b.base+int32(k)
			for i := s.Send.Next(0); i < len(b.sends); i = s.Send.Next(i + 1) {
				l := &f.links[b.sends[i]]
				l.sends = append(l.sends, id)
			}
			for i := s.Recv.Next(0); i < len(b.recvs); i = s.Recv.Next(i + 1) {
				l := &f.links[b.recvs[i]]
				l.recvs = append(l.recvs, id)
			}
		}
	}
}

// pairMessages sees that a connection's k-th message is received as it was
// sent. What is left over in one loop would shift all messages of the next.
func (f *proof) pairMessages(l *link) error {
	for k, id := range l.recvs {
		if k == len(l.sends) {
			if f.plan.Imported {
				return nil // whoever waits for it is stuck, which says more
			}
			return problem(f.place(id), Unpaired, "receives message %d from rank %d on channel %d, whose block %d sends %d a loop",
				k, l.from, l.channel, f.blocks[l.sender].index, len(l.sends))
		}
		if got, want := f.chunks(id), f.chunks(l.sends[k]); got != want {
			return problem(f.place(id), Misfit, "receives %d chunks, where %s sends %d", got, f.place(l.sends[k]), want)
		}
	}
	if k := len(l.recvs); k < len(l.sends) && !f.plan.Imported {
		return problem(f.place(l.sends[k]), Unpaired, "sends message %d to rank %d on channel %d, whose block %d receives %d a loop",
			k, l.to, l.channel, f.blocks[l.receiver].index, k)
	}
	return nil
}

func (f *proof) chunks(id int32) int {
	b, i := f.at(id)
	return b.Steps[i].Chunks()
}

// listOrigins turns the pairing round: from a receiving step to its senders.
func (f *proof) listOrigins() {
	f.origin = make([]int32, 1, len(f.blockOf)+1)
	next := make([]int, len(f.links))
	for i := range f.blocks {
		b := &f.blocks[i]
		for k := range b.Steps {
			from := b.Steps[k].Recv
			for i := from.Next(0); i < len(b.recvs); i = from.Next(i + 1) {
				l := b.recvs[i]
				if next[l] == len(f.links[l].sends) {
					continue // schedule will end in a deadlock
				}
				f.origins = append(f.origins, f.links[l].sends[next[l]])
				next[l]++
			}
			f.origin = append(f.origin, int32(len(f.origins)))
		}
	}
}

// senders returns the steps whose messages a step receives.
func (f *proof) senders(id int32) []int32 { return f.origins[f.origin[id]:f.origin[id+1]] }

package msccl

// lane is a connection: from a rank to another, on a channel.
type lane struct{ from, to, channel int }

// ends are the two blocks of a connection; nil: there is none.
type ends struct {
	lane
	sender, receiver *Block
}

// connect pairs the ends of all connections, in the order of the senders and
// then of the receivers without one. It refuses two blocks at one end, which
// would take each other's messages, and messages that are received as more or
// fewer chunks than were sent. An end alone is no error of the file's form: it
// may never be used, or the plan stops there.
func (f *File) connect() ([]ends, error) {
	var all []ends
	at := map[lane]int{}
	for r := range f.GPUs {
		for i := range f.GPUs[r].Blocks {
			b := &f.GPUs[r].Blocks[i]
			k := lane{r, b.Send, b.Channel}
			if b.Send < 0 {
				continue
			}
			if j, twice := at[k]; twice {
				return nil, bad(b.Line, "gpu %d tb %d sends to %d on channel %d, as tb %d does; a connection has one block at each end", r, b.ID, b.Send, b.Channel, all[j].sender.ID)
			}
			at[k] = len(all)
			all = append(all, ends{lane: k, sender: b})
		}
	}
	for r := range f.GPUs {
		for i := range f.GPUs[r].Blocks {
			b := &f.GPUs[r].Blocks[i]
			k := lane{b.Recv, r, b.Channel}
			if b.Recv < 0 {
				continue
			}
			j, ok := at[k]
			if !ok {
				j = len(all)
				at[k] = j
				all = append(all, ends{lane: k})
			}
			if other := all[j].receiver; other != nil {
				return nil, bad(b.Line, "gpu %d tb %d receives from %d on channel %d, as tb %d does; a connection has one block at each end", r, b.ID, b.Recv, b.Channel, other.ID)
			}
			all[j].receiver = b
		}
	}
	for i := range all {
		if err := all[i].match(); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// match compares the lengths of messages at both ends.
func (e *ends) match() error {
	if e.sender == nil || e.receiver == nil {
		return nil
	}
	k := 0
	for i := range e.sender.Steps {
		s := &e.sender.Steps[i]
		if !s.Kind.Sends() {
			continue
		}
		for k < len(e.receiver.Steps) && !e.receiver.Steps[k].Kind.Receives() {
			k++
		}
		if k == len(e.receiver.Steps) {
			return nil
		}
		if got := e.receiver.Steps[k].Count; got != s.Count {
			return bad(e.receiver.Steps[k].Line, "gpu %d tb %d step %d: receives %s, where gpu %d tb %d step %d sends %d",
				e.to, e.receiver.ID, k, plural(got, "chunk"), e.from, e.sender.ID, i, s.Count)
		}
		k++
	}
	return nil
}

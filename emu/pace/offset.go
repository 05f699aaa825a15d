package pace

// Offset estimates how far another host's clock is ahead of ours, as NTP does:
// the reading that came back fastest says most, since what is unknown is only
// how its way was divided into there and back. Clocks drift, so old readings are
// forgotten.
type Offset struct {
	readings []reading
}

type reading struct{ offset, err int64 }

// remembered is how many readings count: at one a second, clocks that are off by
// 50 parts in a million (assumed: a crystal that nobody disciplines) drift apart
// by 0.4 ms in that time.
const remembered = 8

// Add takes a reading: asked and heard on our clock, theirs on the other.
func (o *Offset) Add(asked, theirs, heard int64) {
	half := (heard - asked) / 2
	o.readings = append(o.readings, reading{theirs - asked - half, half + 1})
	if n := len(o.readings) - remembered; n > 0 {
		o.readings = o.readings[n:]
	}
}

// Best returns what to add to our time to get theirs, and by how much that may
// be wrong, in nanoseconds.
func (o *Offset) Best() (offset, err int64) {
	if len(o.readings) == 0 {
		return 0, Never
	}
	best := o.readings[0]
	for _, r := range o.readings[1:] {
		if r.err <= best.err {
			best = r
		}
	}
	return best.offset, best.err
}

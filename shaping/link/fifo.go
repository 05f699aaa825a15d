package link

// fifo is a queue of segments.
type fifo struct {
	all  []segment
	head int
}

func (q *fifo) empty() bool     { return q.head == len(q.all) }
func (q *fifo) len() int        { return len(q.all) - q.head }
func (q *fifo) first() *segment { return &q.all[q.head] }

func (q *fifo) push(s segment) {
	if q.head > 64 && 2*q.head > len(q.all) {
		n := copy(q.all, q.all[q.head:])
		clear(q.all[n:])
		q.all, q.head = q.all[:n], 0
	}
	q.all = append(q.all, s)
}

func (q *fifo) pop() segment {
	s := q.all[q.head]
	q.all[q.head] = segment{}
	q.head++
	if q.empty() {
		q.all, q.head = q.all[:0], 0
	}
	return s
}

package collective

import "sort"

// Parts of unlike length: an all-to-all in which some ranks have more to say to
// each other than others. As rccl-tests' alltoallv has it, with
// chunk = 2 × count / n rounded down, rank r sends rank q
//
//	((r + q) mod n) × chunk elements, and
//	what is left of n × count        where that is a multiple of n
//
// so the sizes run from chunk to n − 1 chunks, and every rank sends, and gets,
// n × count in all. On n = 4, count 100, chunk 50:
//
//	          to 0   1    2    3
//	from 0   100   50  100  150      The table is symmetric: what a rank
//	from 1    50  100  150  100      sends to another is as long as what it
//	from 2   100  150  100   50      gets from it, so its input and output
//	from 3   150  100   50  100      fall into the same parts.
//
// rccl-tests, src/alltoallv.cu (AlltoAllvInitData).
type lengths struct {
	n     int64
	count int64 // elements of a part, on average
}

// chunk is the length of the shortest part, unless rest is shorter.
func (l lengths) chunk() int64 { return 2 * l.count / l.n }

// rest is the length of the parts of which r + q is a multiple of n. It is at
// least count.
func (l lengths) rest() int64 { return l.n*l.count - l.chunk()*triangle(l.n) }

// of returns the length of what rank r sends to rank q, and gets from it.
func (l lengths) of(r, q int) int64 {
	if times := (int64(r) + int64(q)) % l.n; times > 0 {
		return times * l.chunk()
	}
	return l.rest()
}

// before returns the length of rank r's parts 0 … q−1 together: where its part q
// begins.
func (l lengths) before(r, q int) int64 {
	from, to := int64(r), int64(r)+int64(q)
	if to <= l.n {
		sum := l.chunk() * (triangle(to) - triangle(from))
		if r == 0 && q > 0 {
			sum += l.rest()
		}
		return sum
	}
	return l.chunk()*(triangle(l.n)-triangle(from)+triangle(to-l.n)) + l.rest()
}

// at returns the part of rank r in which its element e lies.
func (l lengths) at(r int, e int64) int {
	return sort.Search(int(l.n), func(q int) bool { return l.before(r, q+1) > e })
}

// longest and shortest are the bounds of all parts' lengths.
func (l lengths) longest() int64 { return max(l.rest(), (l.n-1)*l.chunk()) }

func (l lengths) shortest() int64 {
	if l.n == 1 {
		return l.rest()
	}
	return min(l.rest(), l.chunk())
}

// least returns the smallest count of which every part has at least the given
// number of elements.
func (l lengths) least(elements int64) int64 {
	if l.n == 1 {
		return elements
	}
	return (l.n*elements + 1) / 2
}

// triangle returns 0 + 1 + … + (x−1).
func triangle(x int64) int64 { return x * (x - 1) / 2 }

package collective

// tries is how many steps a search for one claim looks at. On the ways that
// plans in use take, it is a few hundred on 256 ranks.
const tries = 1 << 12

// maxTries bounds the searches of a plan together: some seconds.
const maxTries = 1 << 28

// walk returns the claims that a search backwards from their second step does
// not confirm. A clock settles all claims about a block at once, but goes
// through all steps to do it; where thousands of blocks have a few claims each,
// walking is cheaper. It tells reachable from not, which settles claims where
// no message is cut into slices.
func (c *clock) walk(order []int32, claims []claim) (rest []claim) {
	if len(claims) == 0 || c.plan.ChunkSteps > c.plan.SliceSteps {
		return claims
	}
	c.look(order, everywhere)
	seen := make([]int32, len(order)) // by which search, from 1
	var stack []int32
	left := maxTries
	for i, q := range claims {
		if left <= 0 || !c.reaches(q, int32(i+1), seen, &stack, &left) {
			rest = append(rest, q)
		}
	}
	return rest
}

// reaches walks back from the second step of a claim until it meets the block
// of the first, there or later.
func (c *clock) reaches(q claim, search int32, seen []int32, stack *[]int32, total *int) bool {
	first := c.at[q.a.id]
	todo := append((*stack)[:0], c.at[q.b.id])
	left := tries
	defer func() { *total -= tries - left }()
	for len(todo) > 0 && left > 0 {
		i := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, e := range c.before[c.first[i]:c.first[i+1]] {
			at := e >> 1
			if at < first || seen[at] == search {
				continue
			}
			if int(c.blockOf[c.order[at]]) == q.a.block {
				*stack = todo
				return true
			}
			seen[at] = search
			todo = append(todo, at)
			left--
		}
	}
	*stack = todo
	return false
}

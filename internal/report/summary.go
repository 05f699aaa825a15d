package report

// Summary is what the footer says of the rows so far.
type Summary struct {
	// Errors is the number of cells with wrong elements, not of elements:
	// nccl-tests counts so.
	Errors int
	Cells  int // cells that were run
	sum    float64
}

// Add takes a row into account.
func (s *Summary) Add(h Header, r Row) {
	for _, c := range []Cell{r.OutOfPlace, r.InPlace} {
		if c.NA {
			continue
		}
		if c.Checked && c.Wrong > 0 {
			s.Errors++
		}
		_, bus := Bandwidth(h.Op, h.Ranks, r.Size, c.TimePs)
		s.sum += bus
		s.Cells++
	}
}

// BusBandwidth returns the plain average over all cells in GB/s, as nccl-tests
// takes it: a number to compare with itself, not a peak. Zero without cells.
func (s *Summary) BusBandwidth() float64 {
	if s.Cells == 0 {
		return 0
	}
	return s.sum / float64(s.Cells)
}

// tolerance is how far below NCCL_TESTS_MIN_BW an average may lie.
const tolerance = 0.9

// Slow reports whether the average misses the bound that NCCL_TESTS_MIN_BW
// sets. Without a bound nothing is slow.
func (s *Summary) Slow(h Header) bool {
	return h.MinBusBandwidth > 0 && s.BusBandwidth() < tolerance*h.MinBusBandwidth
}

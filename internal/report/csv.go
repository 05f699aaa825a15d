package report

import (
	"encoding/csv"
	"io"
	"strconv"
)

// CSV writes one record a row, below a line with names that end in the unit.
// Columns that were not run or not checked are empty.
type CSV struct {
	w      *csv.Writer
	header Header
}

// NewCSV returns a CSV writer to w.
func NewCSV(w io.Writer) *CSV { return &CSV{w: csv.NewWriter(w)} }

// Begin writes the names of the columns.
func (c *CSV) Begin(h Header) error {
	c.header = h
	return c.write([]string{
		"op", "ranks", "size_bytes", "count", "type", "redop", "root",
		"time_us", "algbw_gbs", "busbw_gbs", "wrong",
		"inplace_time_us", "inplace_algbw_gbs", "inplace_busbw_gbs", "inplace_wrong",
	})
}

// Row writes one record.
func (c *CSV) Row(r Row) error {
	record := []string{
		c.header.Op.String(), strconv.Itoa(c.header.Ranks),
		strconv.FormatInt(r.Size, 10), strconv.FormatInt(r.Count, 10), r.Type, r.RedOp, strconv.Itoa(r.Root),
	}
	for _, cell := range []Cell{r.OutOfPlace, r.InPlace} {
		record = append(record, c.cell(r.Size, cell)...)
	}
	return c.write(record)
}

// End writes nothing: a CSV file ends with its last record.
func (c *CSV) End(Footer) error { return nil }

func (c *CSV) cell(size int64, cell Cell) []string {
	if cell.NA {
		return []string{"", "", "", ""}
	}
	alg, bus := Bandwidth(c.header.Op, c.header.Ranks, size, cell.TimePs)
	wrong := ""
	if cell.Checked {
		wrong = strconv.FormatInt(cell.Wrong, 10)
	}
	return []string{microseconds(cell.TimePs), strconv.FormatFloat(alg, 'f', 6, 64), strconv.FormatFloat(bus, 'f', 6, 64), wrong}
}

// write flushes at once: rows are seen as they are done.
func (c *CSV) write(record []string) error {
	if err := c.w.Write(record); err != nil {
		return err
	}
	c.w.Flush()
	return c.w.Error()
}

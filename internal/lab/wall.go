package lab

// Wall is wall.json: how a scenario was executed, and what the host's clock said.
// It is another one each time.
type Wall struct {
	Began     string  `json:"began"` // RFC 3339
	Version   string  `json:"version"`
	Clock     string  `json:"clock"`
	Processes int     `json:"processes"`
	Seconds   float64 `json:"seconds"`
	// Detected says how long it took until the death of a process was noticed.
	Detected []Detected `json:"detected"`
	// Perturbed says which processes died that were not meant to.
	Perturbed []string `json:"perturbed,omitempty"`
}

// Detected is how soon the death of a node's process was noticed.
type Detected struct {
	Node    string  `json:"node"`
	Seconds float64 `json:"seconds"`
}

// JSON returns the text of wall.json.
func (w *Wall) JSON() []byte { return pretty(w) }

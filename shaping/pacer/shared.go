package pacer

import "sync"

// shared is the process's pacer and who holds it: a thread that waits is worth
// having once.
var shared struct {
	sync.Mutex
	pacer   *Pacer
	holders int
}

// Acquire returns the pacer of this process, which is started for its first
// holder. It ends when all have called release; each may do so more than once.
func Acquire() (p *Pacer, release func(), err error) {
	shared.Lock()
	defer shared.Unlock()
	if shared.pacer == nil {
		if shared.pacer, err = New(); err != nil {
			return nil, nil, err
		}
	}
	shared.holders++
	return shared.pacer, sync.OnceFunc(drop), nil
}

func drop() {
	shared.Lock()
	var last *Pacer
	if shared.holders--; shared.holders == 0 {
		last, shared.pacer = shared.pacer, nil
	}
	shared.Unlock()
	if last != nil {
		last.Close()
	}
}

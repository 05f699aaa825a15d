package transit_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/railyard/railyard/emu/transit"
	"github.com/railyard/railyard/shaping"
)

// panics returns what f panics with, "" when it does not.
func panics(f func()) (why string) {
	defer func() {
		if p := recover(); p != nil {
			why = fmt.Sprint(p)
		}
	}()
	f()
	return ""
}

func key(at shaping.Time, k transit.Kind, source, seq, hop uint32) transit.Key {
	return transit.Key{At: at, Ord: transit.Order(k, source, seq), Hop: hop}
}

// fields is an event before it is packed into a key.
type fields struct {
	at               shaping.Time
	kind             transit.Kind
	source, seq, hop uint32
}

func (f fields) key() transit.Key { return key(f.at, f.kind, f.source, f.seq, f.hop) }

func (f fields) compare(g fields) int {
	return cmp.Or(cmp.Compare(f.at, g.at), cmp.Compare(f.kind, g.kind), cmp.Compare(f.source, g.source),
		cmp.Compare(f.seq, g.seq), cmp.Compare(f.hop, g.hop))
}

// edges has few values for each field, the largest among them, so that draws
// tie on all but one.
func edges(rng *rand.Rand) fields {
	pick := func(v ...uint32) uint32 { return v[rng.IntN(len(v))] }
	return fields{at: shaping.Time(rng.IntN(4)), kind: transit.Kind(rng.IntN(int(transit.Wake) + 1)),
		source: pick(0, 1, 255, 1<<28-1), seq: pick(0, 1, 1<<32-1), hop: pick(0, 1, 1<<32-1)}
}

func TestKeyPacksTheTotalOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		a, b := edges(rng), edges(rng)
		if got, want := a.key().Less(b.key()), a.compare(b) < 0; got != want {
			t.Fatalf("%+v before %+v: %v, want %v", a, b, got, want)
		}
		if a.key().Kind() != a.kind {
			t.Fatalf("%+v: kind %d once packed", a, a.key().Kind())
		}
	}
}

// TestKindsInOrder pins the enumeration: a kind that moves changes every
// timeline in which two kinds meet at an instant.
func TestKindsInOrder(t *testing.T) {
	for i, k := range []transit.Kind{transit.Fault, transit.Start, transit.Credit, transit.Arrive, transit.Leave,
		transit.Complete, transit.Post, transit.Deliver, transit.Lost, transit.Resend, transit.Wake} {
		if int(k) != i {
			t.Errorf("kind %d stands at %d", k, i)
		}
	}
}

func TestKeyRefusesSourcesThatDoNotFit(t *testing.T) {
	if why := panics(func() { transit.Order(transit.Wake, 1<<28-1, 0) }); why != "" {
		t.Error(why)
	}
	if why := panics(func() { transit.Order(transit.Wake, 1<<28, 0) }); !strings.Contains(why, "source 268435456") {
		t.Errorf("panic %q, want the source in it", why)
	}
}

func TestKeyString(t *testing.T) {
	if got, want := key(71, transit.Leave, 12, 345, 6).String(), "71ps kind 4 source 12 seq 345 hop 6"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestQueuePopsInOrder pushes while it pops, as a kernel does: what comes out
// is always the least of what is in, with its own argument.
func TestQueuePopsInOrder(t *testing.T) {
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 3))
		var q transit.Queue
		var in []fields
		args := map[fields]int32{}
		for n := int32(0); n < 500 || len(in) > 0; {
			if n < 500 && rng.IntN(5) < 3 {
				f := edges(rng)
				f.at = q.Now() + f.at
				if _, twice := args[f]; twice {
					continue
				}
				n++
				args[f] = n
				q.Push(f.key(), n)
				in = append(in, f)
				continue
			}
			if len(in) == 0 {
				continue
			}
			want := slices.MinFunc(in, fields.compare)
			if next := q.Next(); next != want.at {
				t.Fatalf("seed %d: next at %d, want %d", seed, next, want.at)
			}
			k, arg := q.Pop()
			if k != want.key() || arg != args[want] {
				t.Fatalf("seed %d: popped %v with %d, want %v with %d", seed, k, arg, want.key(), args[want])
			}
			if q.Now() != want.at || q.Current() != k {
				t.Fatalf("seed %d: now %d, current %v after %v", seed, q.Now(), q.Current(), k)
			}
			in = slices.DeleteFunc(in, func(f fields) bool { return f == want })
		}
		if q.Popped() != 500 || q.Next() != shaping.Never {
			t.Fatalf("seed %d: popped %d, next %d; want 500 and never", seed, q.Popped(), q.Next())
		}
	}
}

// TestQueuePushOrderDoesNotMatter: the same events, pushed in any order, come
// out in one.
func TestQueuePushOrderDoesNotMatter(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	drawn := map[fields]bool{}
	var all []fields
	for len(all) < 200 {
		if f := edges(rng); !drawn[f] {
			drawn[f] = true
			all = append(all, f)
		}
	}
	order := func() (out []transit.Key) {
		var q transit.Queue
		for i, f := range all {
			q.Push(f.key(), int32(i))
		}
		for q.Next() != shaping.Never {
			k, _ := q.Pop()
			out = append(out, k)
		}
		return out
	}
	want := order()
	for range 20 {
		rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		if !slices.Equal(order(), want) {
			t.Fatal("another order of pushing, another order of popping")
		}
	}
}

func TestQueuePanicsOnBugs(t *testing.T) {
	popped := func(at shaping.Time) *transit.Queue {
		q := &transit.Queue{}
		q.Push(key(at, transit.Wake, 1, 1, 0), 0)
		q.Pop()
		return q
	}
	for _, tc := range []struct {
		name string
		do   func()
		want string
	}{
		{"a push into the past", func() { popped(10).Push(key(9, transit.Wake, 2, 1, 0), 0) }, "pushed after"},
		{"a push at now", func() { popped(10).Push(key(10, transit.Fault, 0, 0, 0), 0) }, ""},
		{"a tie", func() {
			q := &transit.Queue{}
			for range 2 {
				q.Push(key(5, transit.Arrive, 7, 8, 9), 0)
			}
			q.Pop()
			q.Pop()
		}, "two events with the key 5ps kind 3 source 7 seq 8 hop 9"},
		{"a tie with what is popped", func() {
			q := popped(10)
			q.Push(key(10, transit.Wake, 1, 1, 0), 0)
			q.Pop()
		}, "two events with the key"},
		{"the zero key, once", func() { popped(0).Push(transit.Key{}, 0) }, ""},
		{"two hops of one frame", func() {
			q := popped(10)
			q.Push(key(10, transit.Wake, 1, 1, 1), 0)
			q.Pop()
		}, ""},
	} {
		if got := panics(tc.do); (got == "") != (tc.want == "") || !strings.Contains(got, tc.want) {
			t.Errorf("%s: panic %q, want %q", tc.name, got, tc.want)
		}
	}
}

func TestQueueDoesNotAllocate(t *testing.T) {
	var q transit.Queue
	seq := uint32(0)
	push := func() {
		seq++
		q.Push(key(q.Now()+shaping.Time(seq*7919%1000), transit.Wake, seq%64, seq, 0), int32(seq))
	}
	for range 1000 {
		push()
	}
	turn := func() {
		for range 1000 {
			q.Pop()
			push()
		}
	}
	turn()
	if n := testing.AllocsPerRun(20, turn); n != 0 {
		t.Errorf("%v allocations in 1000 events, the queue holding 1000", n)
	}
}

package gossip

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/hashicorp/memberlist"
	"go.uber.org/zap"
)

// Config says what to join, and as what. Begin with Loopback or LAN.
type Config struct {
	// Name is what this process calls itself in lists and verdicts: printable
	// ASCII, at most 64 characters. Required.
	Name string
	// BindAddr is the IP address to listen on, for TCP and UDP alike. Default:
	// the preset's.
	BindAddr string
	// BindPort is the port to listen on; 0, the default, takes a free one.
	BindPort int
	// AdvertiseAddr is the IP address at which others reach this process.
	// Default: BindAddr, or a private address of this host where that is
	// 0.0.0.0.
	AdvertiseAddr string
	// Join lists members to join, as host:port; one that answers is enough.
	// Empty, the default, begins a roster of one, for others to join.
	Join []string
	// JoinTimeout is how long to keep trying them. Default: the preset's.
	JoinTimeout time.Duration
	// Meta says what this process is: Role, Version, GRPC, Nodes, GPUs and,
	// unless it is to belong to whichever cluster it finds, Cluster. Name,
	// Instance and Addr are filled in by Start.
	Meta Member
	// Logger receives strays at Warn and everything memberlist says at Debug.
	// Default: nothing is logged.
	Logger *zap.Logger
	// Transport replaces the sockets, and with them BindAddr, BindPort and
	// AdvertiseAddr; for tests, see memnet. Default: sockets.
	Transport memberlist.NodeAwareTransport

	tuning *tuning
}

// Loopback is the preset for processes on one host: quick to join and to
// notice a crash, patient with a host whose processors are all busy.
func Loopback() Config {
	return Config{BindAddr: "127.0.0.1", JoinTimeout: 10 * time.Second, tuning: &loopback}
}

// LAN is the preset for containers and other hosts. It joins for longer, since
// containers start in any order and names resolve only once they have.
func LAN() Config {
	return Config{BindAddr: "0.0.0.0", JoinTimeout: 60 * time.Second, tuning: &lan}
}

// ConfigError is a field of a Config that cannot be used.
type ConfigError struct {
	Field string // as in Config
	Err   error  // the value, what is allowed, and what to do
}

func (e *ConfigError) Error() string { return fmt.Sprintf("gossip: %s: %v", e.Field, e.Err) }

// Unwrap returns what is wrong with the field.
func (e *ConfigError) Unwrap() error { return e.Err }

func (e *ConfigError) usage() bool { return true }

// check reports everything that is wrong, at once.
func (c *Config) check() error {
	var errs []error
	add := func(field string, err error) {
		if err != nil {
			errs = append(errs, &ConfigError{Field: field, Err: err})
		}
	}
	if c.tuning == nil {
		return &ConfigError{"Config", errors.New("begin with Loopback() or LAN(); a Config without a preset has no timing")}
	}
	for _, err := range c.checkMeta() {
		add("Meta", err)
	}
	add("JoinTimeout", checkPositive(c.JoinTimeout))
	for _, a := range c.Join {
		add("Join", checkReachable("address", a))
	}
	if c.Transport == nil {
		add("BindAddr", c.checkBindAddr())
		add("BindPort", checkPort(c.BindPort))
		add("AdvertiseAddr", checkAdvertise(c.AdvertiseAddr))
	}
	return errors.Join(errs...)
}

// self is the member that this configuration describes.
func (c *Config) self(instance string) Member {
	m := c.Meta
	m.Name, m.Instance = c.Name, instance
	return m
}

// checkMeta makes sure that what this process says of itself fits, also once it
// has adopted the longest cluster id there can be.
func (c *Config) checkMeta() several {
	m := c.self("")
	m.Cluster = cmp.Or(m.Cluster, strings.Repeat("x", maxText))
	_, err := m.encode()
	if s, ok := err.(several); ok {
		return s
	}
	return several{err}
}

// checkBindAddr insists on an IP address: memberlist takes anything else to
// mean every interface, and would open the port to the network.
func (c *Config) checkBindAddr() error {
	ip := net.ParseIP(c.BindAddr)
	if ip == nil {
		return fmt.Errorf("%q is not an IP address; use one of this host's, such as 127.0.0.1, or 0.0.0.0 for all", c.BindAddr)
	}
	if ip.IsUnspecified() && ip.To4() == nil && c.AdvertiseAddr == "" {
		return fmt.Errorf("%q needs AdvertiseAddr, the address at which others reach this host", c.BindAddr)
	}
	return nil
}

func checkAdvertise(addr string) error {
	ip := net.ParseIP(addr)
	if addr == "" || ip != nil && !ip.IsUnspecified() {
		return nil
	}
	return fmt.Errorf("%q is not an IP address that others can reach; use one of this host's", addr)
}

func checkPort(p int) error {
	if p < 0 || p > 65535 {
		return fmt.Errorf("%d: must be 0 to 65535, 0 for any free one", p)
	}
	return nil
}

func checkPositive(d time.Duration) error {
	if d <= 0 {
		return fmt.Errorf("%v: must be longer than 0", d)
	}
	return nil
}

func (c *Config) logger() *zap.Logger { return cmp.Or(c.Logger, zap.NewNop()) }

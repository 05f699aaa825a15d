package gossip

import (
	"fmt"
	"net"
	"strconv"
)

// At returns the preset that suits an address to bind, host:port: Loopback for
// an address of loopback, LAN for any other.
func At(addr string) (Config, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return Config{}, &ConfigError{"address", fmt.Errorf("%q must be host:port, for example 127.0.0.1:0", addr)}
	}
	c := LAN()
	if ip := net.ParseIP(host); host == "localhost" || ip != nil && ip.IsLoopback() {
		c = Loopback()
	}
	if host != "" && host != "localhost" {
		c.BindAddr = host
	}
	if c.BindPort, err = strconv.Atoi(port); err != nil {
		return Config{}, &ConfigError{"address", fmt.Errorf("%q: the port must be a number, 0 for any free one", addr)}
	}
	return c, nil
}

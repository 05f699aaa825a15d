// Package proxy puts any TCP program on an emulated link: it accepts connections,
// opens one upstream for each, and carries bytes between both over a link of
// shaping/link that all of them share.
//
//	client ◄──► proxy ── Conn on the link ──► upstream
//	       plain          up and down
//
// What is not here: the link itself, and flags (internal/cli). Imported by
// cmd/nodesim.
package proxy

package main

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
	"syscall"
	"time"
)

// stamped returns what fills a buffer from a connection and says when the last of it
// was in the socket, by the kernel's own time stamps.
func stamped(c net.Conn) (func([]byte) (time.Time, error), error) {
	raw, err := c.(*net.TCPConn).SyscallConn()
	if err != nil {
		return nil, err
	}
	var refused error
	err = raw.Control(func(fd uintptr) {
		refused = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_TIMESTAMPNS, 1)
	})
	if err := errors.Join(err, refused); err != nil {
		return nil, err
	}
	return func(buf []byte) (at time.Time, err error) {
		oob := make([]byte, syscall.CmsgSpace(16))
		for got := 0; got < len(buf); {
			var n, more int
			var failed error
			err = raw.Read(func(fd uintptr) bool {
				n, more, _, _, failed = syscall.Recvmsg(int(fd), buf[got:], oob, 0)
				return failed != syscall.EAGAIN && failed != syscall.EINTR
			})
			switch err = errors.Join(err, failed); {
			case err != nil:
				return at, err
			case n == 0:
				return at, io.ErrUnexpectedEOF
			}
			got += n
			at, err = stamp(oob[:more])
		}
		return at, err
	}, nil
}

// stamp reads a timespec of two words.
func stamp(oob []byte) (time.Time, error) {
	all, err := syscall.ParseSocketControlMessage(oob)
	if err != nil {
		return time.Time{}, err
	}
	for _, m := range all {
		if m.Header.Level == syscall.SOL_SOCKET && m.Header.Type == syscall.SO_TIMESTAMPNS && len(m.Data) >= 16 {
			return time.Unix(int64(binary.NativeEndian.Uint64(m.Data)), int64(binary.NativeEndian.Uint64(m.Data[8:]))), nil
		}
	}
	return time.Time{}, errNoStamp
}

//go:build !linux

package coordinator

import "syscall"

// apart puts a child into a process group of its own.
func apart() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

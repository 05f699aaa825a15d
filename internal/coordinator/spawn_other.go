//go:build !linux

package coordinator

import "syscall"

// detached puts a child into a process group of its own.
func detached() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

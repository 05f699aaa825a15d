package coordinator

import "syscall"

// detached puts a child into a process group of its own, and has the kernel kill it
// when this process dies. The lifeline does so as well, but not to a child that
// is stopped. (The kernel looks at the thread that started it; Go ends none that
// is not locked to a goroutine.)
func detached() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

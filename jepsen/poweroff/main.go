// Poweroff ends a mounted ext4 file system as a power cut does: what was not
// synced, directory entries included, is gone once it is mounted again.
package main

import (
	"fmt"
	"os"
	"syscall"
	"unsafe"
)

const (
	shutdown = 0x8004587d // EXT4_IOC_SHUTDOWN of linux/ext4.h
	noFlush  = 2          // its EXT4_GOING_FLAGS_NOLOGFLUSH
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: poweroff MOUNTPOINT")
		os.Exit(2)
	}
	if err := cut(os.Args[1]); err != nil {
		fmt.Fprintf(os.Stderr, "poweroff: %s: %v\n", os.Args[1], err)
		os.Exit(1)
	}
}

func cut(mountpoint string) error {
	root, err := os.Open(mountpoint)
	if err != nil {
		return err
	}
	defer root.Close()
	flags := uint32(noFlush)
	_, _, errno := syscall.Syscall(
		syscall.SYS_IOCTL, root.Fd(), shutdown, uintptr(unsafe.Pointer(&flags)))
	if errno != 0 {
		return errno
	}
	return nil
}

"""Operations by descriptors that stay open, whatever becomes of the names."""
import errno
import fcntl
import mmap
import os
import stat
import struct
import time

import operations
from calls import OFD_SETLK, fallocate, link_open
from operations import NO_WAIT, content_of, seen

# A directory or pipe that lost its name is gone a minute later, though it be open (docs/fuse.md).
NAMELESS_SECONDS = 30


class Held:
    """The open descriptors of one side, by slot. Operations on an empty slot do nothing."""

    def __init__(self):
        self.fds = {}
        self.folders = {}
        self.since = {}

    def keep(self, slot, fd, folder=None):
        self.let_go(slot)
        self.fds[slot], self.since[slot] = fd, time.monotonic()
        if folder is not None:
            self.folders[slot] = folder

    def let_go(self, slot):
        for of in (self.fds, self.folders):
            fd = of.pop(slot, None)
            if fd is not None:
                os.close(fd)

    def is_old(self, slot):
        """Whether what it holds may be gone for good reason."""
        fd = self.fds.get(slot)
        if fd is None or time.monotonic() - self.since[slot] < NAMELESS_SECONDS:
            return False
        return slot in self.folders or not stat.S_ISREG(os.fstat(fd).st_mode)

    def hold(self, slot, path, flags):
        fd = os.open(path, flags | NO_WAIT)
        self.keep(slot, fd)
        return seen(os.fstat(fd))

    def hold_unnamed(self, slot, path, flags, mode):
        folder = os.open(path, os.O_PATH | os.O_DIRECTORY)
        try:
            fd = os.open(path, os.O_TMPFILE | flags, mode)
        except OSError:
            os.close(folder)
            raise
        self.keep(slot, fd, folder)
        return seen(os.fstat(fd))

    def name_held(self, slot, name):
        """In the very folder that an O_TMPFILE was opened in: elsewhere it may be EXDEV (docs/fuse.md)."""
        fd = self.fds.get(slot)
        if fd is not None:
            link_open(fd, self.folders.get(slot, -100), name)

    @staticmethod
    def content(fd):
        try:
            return os.pread(fd, 1 << 20, 0)
        except OSError as e:
            return errno.errorcode[e.errno]

    def use_held(self, fd, offset, content):
        return os.pwrite(fd, content, offset), seen(os.fstat(fd)), self.content(fd)

    def write_held(self, fd, content):
        """Where the descriptor is, or at the end with O_APPEND."""
        written = os.write(fd, content)
        status = os.fstat(fd)
        return written, seen(status), stat.S_ISREG(status.st_mode) and os.lseek(fd, 0, os.SEEK_CUR)

    def status_held(self, fd):
        return seen(os.fstat(fd))

    def truncate_held(self, fd, size):
        os.ftruncate(fd, size)
        return seen(os.fstat(fd)), self.content(fd)

    def sync_held(self, fd, all_of_it):
        os.fsync(fd) if all_of_it else os.fdatasync(fd)

    def allocate_held(self, fd, mode, offset, length):
        fallocate(fd, mode, offset, length)
        return seen(os.fstat(fd)), self.content(fd)

    def chmod_held(self, fd, mode):
        os.fchmod(fd, mode)

    def chown_held(self, fd, uid, gid):
        os.fchown(fd, uid, gid)

    def utime_held(self, fd, times):
        if times is None:
            return os.utime(fd)
        os.utime(fd, ns=times)
        status = os.fstat(fd)
        return status.st_atime_ns, status.st_mtime_ns

    def map_held(self, fd, offset, content):
        """Writes to what there is through a shared mapping."""
        status = os.fstat(fd)
        if not stat.S_ISREG(status.st_mode) or status.st_size <= offset:
            return None
        with mmap.mmap(fd, status.st_size, mmap.MAP_SHARED, mmap.PROT_READ | mmap.PROT_WRITE) as pages:
            content = content[: status.st_size - offset]
            pages[offset : offset + len(content)] = content
            pages.flush()
        return self.content(fd)

    def flock_held(self, fd, how):
        fcntl.flock(fd, how | fcntl.LOCK_NB)

    def lock_held(self, fd, command, how, start, length):
        """Of the descriptor (F_OFD_SETLK), or of the process, which loses it when it closes the file anywhere."""
        request = struct.pack("hhqqi4x", how, os.SEEK_SET, start, length, 0)
        fcntl.fcntl(fd, OFD_SETLK if command == "descriptor" else fcntl.F_SETLK, request)

    def xattrs_held(self, fd):
        return operations.xattrs(fd)

    def open_in_held(self, fd, name, flags, mode):
        with operations.opened(name, flags, mode, dir_fd=fd) as found:
            return seen(os.fstat(found)), content_of(found) if flags & os.O_ACCMODE == os.O_RDONLY and not flags & os.O_PATH else None

    def list_held(self, fd):
        return sorted(os.listdir(fd))

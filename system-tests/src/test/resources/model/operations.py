"""Operations by path, each returning something to compare. Opening never waits for the other end of a pipe."""
import os
import stat

from calls import PUNCH_HOLE, fallocate, rename  # rename is an operation as it stands

NO_WAIT = os.O_NONBLOCK


def seen(status):
    """What stat(2) has to tell alike everywhere."""
    whole = [oct(status.st_mode), status.st_nlink, status.st_uid, status.st_gid]
    if not stat.S_ISDIR(status.st_mode):
        whole.append(status.st_size)
    return whole


class opened:
    """A descriptor for a while."""

    def __init__(self, path, flags, mode=0, dir_fd=None):
        self.fd = os.open(path, flags | NO_WAIT, mode, dir_fd=dir_fd)

    def __enter__(self):
        return self.fd

    def __exit__(self, *ignored):
        os.close(self.fd)


def open(path, flags, mode):
    with opened(path, flags, mode) as fd:
        return seen(os.fstat(fd))


def create(path, flags, mode, content):
    with opened(path, os.O_WRONLY | os.O_CREAT | flags, mode) as fd:
        return os.write(fd, content) if content else 0


def pwrite(path, offset, content):
    with opened(path, os.O_WRONLY) as fd:
        return os.pwrite(fd, content, offset)


def append(path, content):
    with opened(path, os.O_WRONLY | os.O_APPEND) as fd:
        return os.write(fd, content)


def content_of(fd):
    parts = []
    while part := os.read(fd, 1 << 20):
        parts.append(part)
    return b"".join(parts)


def read(path):
    with opened(path, os.O_RDONLY) as fd:
        return content_of(fd)


def truncate(path, size):
    os.truncate(path, size)


def allocate(path, mode, offset, length):
    with opened(path, os.O_RDWR) as fd:
        fallocate(fd, mode, offset, length)
        return os.fstat(fd).st_size, content_of(fd)


def copy(path, new, offset, at, length):
    """copy_file_range(2), also within one file."""
    with opened(path, os.O_RDONLY) as source, opened(new, os.O_RDWR) as target:
        copied = os.copy_file_range(source, target, length, offset, at)
        return copied, content_of(target)


def holes(path, punch, beyond):
    """
    Where holes are is each file system's own affair: ours knows them to the byte, a local one to the block, and either
    may take zeros for data. But nothing outside of data may be other than zero, and beyond the end there is nothing.
    """
    with opened(path, os.O_RDWR) as fd:
        if punch is not None:
            fallocate(fd, PUNCH_HOLE | 1, punch, 4096)
        content, at = bytearray(content_of(fd)), 0
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            return None
        while at < len(content):
            try:
                start = os.lseek(fd, at, os.SEEK_DATA)
            except OSError as e:
                if e.errno != 6:  # ENXIO: no more data
                    raise
                break
            at = os.lseek(fd, start, os.SEEK_HOLE)
            content[start:at] = bytes(at - start)
        return any(content), os.lseek(fd, len(content) + beyond, os.SEEK_DATA)


def mkdir(path, mode):
    os.mkdir(path, mode)


def rmdir(path):
    os.rmdir(path)


def unlink(path):
    os.unlink(path)


def symlink(target, path):
    os.symlink(target, path)


def readlink(path):
    return os.readlink(path)


def link(path, new):
    os.link(path, new, follow_symlinks=False)


def mknod(path, kind, mode):
    os.mknod(path, kind | mode)


def chmod(path, mode):
    os.chmod(path, mode)


def chown(path, uid, gid):
    os.chown(path, uid, gid, follow_symlinks=False)


def utime(path, times):
    """To the given times, which must come back, or to now."""
    if times is None:
        return os.utime(path, follow_symlinks=False)
    os.utime(path, ns=times, follow_symlinks=False)
    status = os.lstat(path)
    return status.st_atime_ns, status.st_mtime_ns


def setxattr(path, name, value, flags):
    os.setxattr(path, name, value, flags)


def set_list(path, name, value):
    """An access control list: shows in the mode, too."""
    os.setxattr(path, name, value)
    return oct(os.stat(path).st_mode), xattrs(path)


def xattrs(path):
    return sorted((name, os.getxattr(path, name)) for name in os.listxattr(path))


def getxattr(path, name):
    return os.getxattr(path, name)


def removexattr(path, name):
    os.removexattr(path, name)


def list(path):
    return sorted(os.listdir(path))


def status(path):
    return seen(os.lstat(path))


def follow(path):
    return seen(os.stat(path))


def access(path, mode, effective):
    return os.access(path, mode, effective_ids=effective)


def longest_name(path):
    return os.statvfs(path).f_namemax

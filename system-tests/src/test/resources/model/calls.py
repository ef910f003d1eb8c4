"""System calls that Python's os module has not, or not whole."""
import contextlib
import ctypes
import os

LIBC = ctypes.CDLL(None, use_errno=True)
NOREPLACE, EXCHANGE = 1, 2
KEEP_SIZE, PUNCH_HOLE, ZERO_RANGE = 1, 2, 16
OFD_SETLK = 37
_CWD, _FOLLOW, _SET_DUMPABLE = -100, 0x400, 4


def _checked(result, name):
    if result != 0:
        raise OSError(ctypes.get_errno(), name)


def rename(old, new, flags):
    _checked(LIBC.renameat2(_CWD, bytes(old), _CWD, bytes(new), flags), "renameat2")


def fallocate(fd, mode, offset, length):
    _checked(LIBC.fallocate(fd, mode, ctypes.c_long(offset), ctypes.c_long(length)), "fallocate")


def link_open(fd, folder, name):
    """Gives an open file a name in the folder of another descriptor."""
    _checked(LIBC.linkat(_CWD, b"/proc/self/fd/%d" % fd, folder, bytes(name), _FOLLOW), "linkat")


@contextlib.contextmanager
def acting(user, umask):
    """As a user, (uid, gid, supplementary groups), with a umask; root with 022 again after that."""
    uid, gid, groups = user
    os.umask(umask)
    os.setgroups(groups)
    os.setresgid(gid, gid, 0)
    os.setresuid(uid, uid, 0)
    LIBC.prctl(_SET_DUMPABLE, 1, 0, 0, 0)  # else /proc/self/fd were root's
    try:
        yield
    finally:
        os.setresuid(0, 0, 0)
        os.setresgid(0, 0, 0)
        os.setgroups([])
        os.umask(0o022)

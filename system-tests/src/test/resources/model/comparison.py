"""What has to be equal, what may differ and why."""
import collections
import itertools
import os
import stat
import sys
import time

import operations
from chance import TIMES
from operations import seen

REALTIME_COARSE = 5
SET_TIMES = [times[1] for times in TIMES if times]


def equal(what, local, mount):
    """Whether the outcomes, and the changes that a Watch saw, are, but for what may differ."""
    if local == mount:
        return True
    if local[0] != mount[0] or local[1] is None:
        return False
    return len(local[1]) == len(mount[1]) and all(one == other or may_differ(what, one, other) for one, other in zip(local[1], mount[1]))


def may_differ(what, local, mount):
    """
    What is right though it is not equal (docs/fuse.md has the same):

    * Inode numbers, allocated space, the order of a listing, sizes of directories, atime after a read: never compared.
    * Where holes are: `operations.holes` says what is compared.
    * A rename sets the ctime of what is renamed, but for what lives in another partition than its directories where only
      those are asked; POSIX leaves it open.
    * ext4 passes over an extended attribute that has the value already; ours sets the ctime, as other file systems do.
    * What is written to a named pipe stays in the kernel, which tells nobody: times of pipes are not compared.
    * What is open without a name is gone a minute later unless it is a file: `held.NAMELESS_SECONDS`.
    * O_TMPFILE gets names in its own folder only: `Held.name_held`.
    """
    ours = {"rename": ((False, True), (False, False)), "setxattr": ((False, False), (False, True))}.get(what)
    return local[:-1] == mount[:-1] and (local[-1], mount[-1]) == ours


class Watch:
    """Which times an operation changes: of what it names, of the folders of that, and of what it holds."""

    def __init__(self, paths, fd):
        folders = [os.path.dirname(path.rstrip(b"/")) or b"." for path in paths]
        self.watched = sorted(set(bytes(path) for path in paths) | set(folders)) + ([] if fd is None else [fd])
        self.before = {}
        for status in self.now().values():
            if status:
                self.before[status.st_ino] = status
        self.wait()

    def now(self):
        return {each: self.status(each) for each in self.watched}

    @staticmethod
    def status(each):
        try:
            return os.fstat(each) if isinstance(each, int) else os.lstat(each)
        except OSError:
            return None

    def wait(self):
        """Until a clock that stamps files, a local one of some milliseconds, tells another time than before."""
        newest = max((status.st_ctime_ns for status in self.before.values()), default=0)
        while time.clock_gettime_ns(REALTIME_COARSE) <= newest + 1_000_000:
            time.sleep(0.001)

    def changes(self):
        found = []
        for each, status in self.now().items():
            if status is None:
                found.append((each if isinstance(each, bytes) else "held", "none"))
                continue
            was, kind = self.before.get(status.st_ino), stat.S_IFMT(status.st_mode)
            changed = was and not stat.S_ISFIFO(kind) and (was.st_mtime_ns != status.st_mtime_ns, was.st_ctime_ns != status.st_ctime_ns)
            found.append((each if isinstance(each, bytes) else "held", oct(kind), seen(status), changed))
        return found


def entries(root):
    found = {}
    for folder, directories, files in os.walk(root):
        for name in directories + files:
            path = os.path.join(folder, name)
            status = os.lstat(path)
            of = seen(status) + [operations.xattrs(path) if not stat.S_ISLNK(status.st_mode) else None]
            if stat.S_ISREG(status.st_mode):
                of.append(operations.read(path))
                of.append(status.st_mtime_ns if status.st_mtime_ns in SET_TIMES else None)
            elif stat.S_ISLNK(status.st_mode):
                of.append(os.readlink(path))
            found[os.path.relpath(path, root)] = of
    groups = collections.defaultdict(list)
    for path in found:
        status = os.lstat(os.path.join(root, path))
        if status.st_nlink > 1 and not stat.S_ISDIR(status.st_mode):
            groups[status.st_ino].append(path)
    return found, sorted(sorted(group) for group in groups.values())


def short(value):
    """Content as runs of a byte, as operations write it."""
    if isinstance(value, bytes) and len(value) > 100:
        runs = [f"{len([*run])} x {byte:#x}" for byte, run in itertools.groupby(value)]
        return f"{len(value)} bytes: " + short(", ".join(runs))
    if isinstance(value, (list, tuple)):
        return "(" + ", ".join(short(each) for each in value) + ")"
    text = value if isinstance(value, str) and len(value) > 300 else repr(value)
    return text if len(text) < 300 else text[:200] + f"... ({len(text)} characters)"


def compare(local, mounts):
    expected = entries(os.fsencode(local))
    for mount in mounts:
        got = entries(os.fsencode(mount))
        for path in sorted(set(expected[0]) | set(got[0])):
            if expected[0].get(path) != got[0].get(path):
                sys.exit(f"{mount}: {path}\n  local  {short(expected[0].get(path))}\n  mount  {short(got[0].get(path))}")
        if expected[1] != got[1]:
            sys.exit(f"{mount}: hard links\n  local  {expected[1]}\n  mount  {got[1]}")
    print(f"{len(expected[0])} entries are equal in {len(mounts) + 1} places")

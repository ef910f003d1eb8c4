"""Random operations on a GlobalFS mount and on a local folder side by side: result and errno must be the same.

usage: model.py go|compare LOCAL SEED COUNT MOUNT...

`go` does COUNT operations from SEED, each on LOCAL and through a MOUNT, compares after each and at the end the trees;
`compare` compares the tree of LOCAL with that which every MOUNT shows. Ends with 1 at the first difference, which it
prints with the operations that led there.

What may differ, and is not compared: inode numbers; sizes, allocated space and timestamps of directories; allocated
space in units below a file system's block; the order of a listing; atime.
"""
import collections
import ctypes
import errno
import itertools
import os
import random
import stat
import sys

LIBC = ctypes.CDLL(None, use_errno=True)
NOREPLACE, EXCHANGE = 1, 2
NAMES = [b"a", b"b", b"c", b"d", "\u00fc".encode(), b"caf\xe9", b"e" * 255]
FOLDERS = [b".", b"x", b"x/y", b"us-west", b"us-east", b"us-west/p", b"us-east/p", b"us-west/p/q", b"us-east/p/q"]


def renameat2(old, new, flags):
    if LIBC.renameat2(-100, old, -100, new, flags) != 0:
        raise OSError(ctypes.get_errno(), "renameat2")


class Side:
    """One of the two trees: operations by name, each returning something to compare."""

    def __init__(self, roots):
        self.roots = [os.fsencode(root) for root in roots]
        self.open = {}

    def root(self, through):
        return self.roots[through % len(self.roots)]

    def do(self, operation, through, *args):
        try:
            return "ok", getattr(self, operation)(self.root(through), *args)
        except OSError as e:
            return "failed", errno.errorcode.get(e.errno, e.errno)

    @staticmethod
    def create(root, path, flags, mode, content):
        fd = os.open(os.path.join(root, path), os.O_WRONLY | os.O_CREAT | flags, mode)
        try:
            return os.write(fd, content) if content else 0
        finally:
            os.close(fd)

    @staticmethod
    def pwrite(root, path, offset, content):
        fd = os.open(os.path.join(root, path), os.O_WRONLY)
        try:
            return os.pwrite(fd, content, offset)
        finally:
            os.close(fd)

    @staticmethod
    def append(root, path, content):
        fd = os.open(os.path.join(root, path), os.O_WRONLY | os.O_APPEND)
        try:
            return os.write(fd, content)
        finally:
            os.close(fd)

    @staticmethod
    def read(root, path):
        with open(os.path.join(root, path), "rb", buffering=0) as f:
            return f.readall()

    @staticmethod
    def truncate(root, path, size):
        os.truncate(os.path.join(root, path), size)

    @staticmethod
    def mkdir(root, path, mode):
        os.mkdir(os.path.join(root, path), mode)

    @staticmethod
    def rmdir(root, path):
        os.rmdir(os.path.join(root, path))

    @staticmethod
    def unlink(root, path):
        os.unlink(os.path.join(root, path))

    @staticmethod
    def symlink(root, target, path):
        os.symlink(target, os.path.join(root, path))

    @staticmethod
    def readlink(root, path):
        return os.readlink(os.path.join(root, path))

    @staticmethod
    def link(root, path, new):
        os.link(os.path.join(root, path), os.path.join(root, new), follow_symlinks=False)

    @staticmethod
    def rename(root, path, new, flags):
        renameat2(os.path.join(root, path), os.path.join(root, new), flags)

    @staticmethod
    def mkfifo(root, path, mode):
        os.mkfifo(os.path.join(root, path), mode)

    @staticmethod
    def chmod(root, path, mode):
        os.chmod(os.path.join(root, path), mode)

    @staticmethod
    def chown(root, path, uid, gid):
        os.chown(os.path.join(root, path), uid, gid, follow_symlinks=False)

    @staticmethod
    def utime(root, path, ns):
        os.utime(os.path.join(root, path), ns=(ns, ns), follow_symlinks=False)

    @staticmethod
    def setxattr(root, path, name, value, flags):
        os.setxattr(os.path.join(root, path), name, value, flags)

    @staticmethod
    def xattrs(root, path):
        path = os.path.join(root, path)
        return sorted((name, os.getxattr(path, name)) for name in os.listxattr(path))

    @staticmethod
    def removexattr(root, path, name):
        os.removexattr(os.path.join(root, path), name)

    @staticmethod
    def list(root, path):
        return sorted(os.listdir(os.path.join(root, path)))

    @staticmethod
    def stat(root, path):
        return seen(os.lstat(os.path.join(root, path)))

    def hold(self, root, path, slot):
        """Opens a file and keeps it, whatever becomes of its name."""
        fd = os.open(os.path.join(root, path), os.O_RDWR)
        self.let_go(root, slot)
        self.open[slot] = fd

    def let_go(self, root, slot):
        fd = self.open.pop(slot, None)
        if fd is not None:
            os.close(fd)

    def use_held(self, root, slot, offset, content):
        fd = self.open.get(slot)
        if fd is None:
            return None
        written = os.pwrite(fd, content, offset)
        status = os.fstat(fd)
        return written, status.st_size, status.st_nlink, os.pread(fd, 1 << 20, 0)


def seen(status):
    kind = stat.S_IFMT(status.st_mode)
    whole = [oct(status.st_mode), status.st_nlink, status.st_uid, status.st_gid]
    if kind != stat.S_IFDIR:
        whole.append(status.st_size)
    return whole


class Chance:
    """Operations at random; more often than not on what is there."""

    def __init__(self, seed, root):
        self.random = random.Random(seed)
        self.root = os.fsencode(root)

    def known(self):
        found = []
        for folder, directories, files in os.walk(self.root):
            directories.sort()
            found += [os.path.relpath(os.path.join(folder, name), self.root) for name in directories + sorted(files)]
        return [path for path in found if os.path.basename(path) != b"keep"]

    def path(self):
        if self.random.random() < 0.6:
            known = self.known()
            if known:
                return self.random.choice(known)
        return os.path.normpath(os.path.join(self.random.choice(FOLDERS), self.random.choice(NAMES)))

    def folder(self):
        return self.random.choice(FOLDERS)

    def either(self):
        return self.folder() if self.random.random() < 0.3 else self.path()

    def content(self):
        size = self.random.choice([1, 10, 300, 4096, 5000, 20_000, 70_000])
        return bytes([self.random.randrange(1, 256)]) * size

    def offset(self):
        return self.random.choice([0, 1, 100, 4095, 4096, 10_000, 100_000])

    def operation(self):
        r = self.random
        what = r.choices(list(WEIGHTS), WEIGHTS.values())[0]
        arguments = {
            "create": lambda: (self.path(), r.choice([0, os.O_EXCL, os.O_TRUNC]), r.choice([0o644, 0o600, 0o4755]), r.choice([b"", self.content()])),
            "pwrite": lambda: (self.path(), self.offset(), self.content()),
            "append": lambda: (self.path(), self.content()),
            "read": lambda: (self.path(),),
            "truncate": lambda: (self.path(), r.choice([0, 1, 4096, 5000, 200_000])),
            "mkdir": lambda: (self.either(), r.choice([0o755, 0o2775, 0o1777])),
            "rmdir": lambda: (self.either(),),
            "unlink": lambda: (self.either(),),
            "symlink": lambda: (r.choice([b"a", b"../b", b"nowhere", b"x" * 3000, b""]), self.path()),
            "readlink": lambda: (self.path(),),
            "link": lambda: (self.path(), self.path()),
            "rename": lambda: (self.either(), self.either(), r.choice([0, 0, 0, NOREPLACE, EXCHANGE, EXCHANGE | NOREPLACE])),
            "mkfifo": lambda: (self.path(), 0o640),
            "chmod": lambda: (self.path(), r.choice([0o644, 0o2755, 0o4711, 0])),
            "chown": lambda: (self.path(), r.choice([-1, 0, 1000]), r.choice([-1, 0, 1000])),
            "utime": lambda: (self.path(), r.choice([0, 1_000_000_001, 4_000_000_000_123_456_789])),
            "setxattr": lambda: (self.path(), r.choice([b"user.one", b"user.two", b"trusted.three"]), b"v" * r.choice([0, 5, 300]), r.choice([0, os.XATTR_CREATE, os.XATTR_REPLACE])),
            "xattrs": lambda: (self.path(),),
            "removexattr": lambda: (self.path(), r.choice([b"user.one", b"user.two"])),
            "list": lambda: (self.either(),),
            "stat": lambda: (self.either(),),
            "hold": lambda: (self.path(), r.randrange(4)),
            "let_go": lambda: (r.randrange(4),),
            "use_held": lambda: (r.randrange(4), self.offset(), self.content()),
        }[what]()
        return what, r.randrange(1 << 16), arguments


WEIGHTS = {
    "create": 14, "pwrite": 8, "append": 5, "read": 8, "truncate": 5, "mkdir": 8, "rmdir": 4, "unlink": 8,
    "symlink": 3, "readlink": 2, "link": 6, "rename": 14, "mkfifo": 1, "chmod": 3, "chown": 2, "utime": 2,
    "setxattr": 3, "xattrs": 2, "removexattr": 1, "list": 4, "stat": 8, "hold": 3, "let_go": 1, "use_held": 4,
}


def blocks(path):
    """Kinds of file that reading would wait for."""
    return stat.S_ISFIFO(os.lstat(path).st_mode)


def entries(root):
    found = {}
    for folder, directories, files in os.walk(root):
        for name in directories + files:
            path = os.path.join(folder, name)
            status = os.lstat(path)
            of = seen(status) + [Side.xattrs(b"", path) if not stat.S_ISLNK(status.st_mode) else None]
            if stat.S_ISREG(status.st_mode):
                of.append(Side.read(b"", path))
                of.append(status.st_mtime_ns if status.st_mtime_ns in (0, 1_000_000_001, 4_000_000_000_123_456_789) else None)
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
    if isinstance(value, bytes) and len(value) > 300:
        runs = [f"{len(list(run))} x {byte:#x}" for byte, run in itertools.groupby(value)]
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


def go(local, seed, count, mounts):
    chance = Chance(seed, local)
    here, there = Side([local]), Side(mounts)
    done, outcomes = collections.deque(maxlen=40), collections.Counter()
    for i in range(count):
        what, through, arguments = chance.operation()
        if what in ("read", "create", "pwrite", "append", "hold", "truncate"):
            path = os.path.join(here.root(0), arguments[0])
            if os.path.exists(path) and blocks(os.path.realpath(path)):
                continue
        done.append((i, what, through % len(mounts), [short(a) for a in arguments]))
        got = there.do(what, through, *arguments)
        expected = here.do(what, 0, *arguments)
        if got != expected:
            for line in done:
                print(*line)
            sys.exit(f"seed {seed}, operation {i}: {what}\n  local  {short(expected)}\n  mount  {short(got)}")
        outcomes[expected[0] if expected[0] == "ok" else expected[1]] += 1
    for side in (here, there):
        for slot in list(side.open):
            side.let_go(side.root(0), slot)
    print(f"seed {seed}: {dict(outcomes)}")


def main():
    verb, local, seed, count, mounts = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), sys.argv[5:]
    os.umask(0o022)
    if verb == "go":
        go(local, seed, count, mounts)
        compare(local, mounts)
    else:
        compare(local, mounts)


main()

"""Operations at random; more often than not on what is there."""
import fcntl
import os
import random
import stat
import struct

from calls import EXCHANGE, KEEP_SIZE, NOREPLACE, PUNCH_HOLE, ZERO_RANGE

NAMES = [b"a", b"b", b"c", b"d", "\u00fc".encode(), b"caf\xe9", b"e" * 255]
FOLDERS = [b".", b"x", b"x/y", b"us-west", b"us-east", b"us-west/p", b"us-east/p", b"us-west/p/q", b"us-east/p/q"]
ROOT = (0, 0, [])
USERS = [(1000, 1000, [2000]), (1001, 1001, [1000, 2000])]
UIDS, GIDS = [-1, 0, 1000, 1001], [-1, 0, 1000, 2000, 3000]
LISTS = [b"system.posix_acl_access", b"system.posix_acl_default"]
TIMES = [(0, 0), (5, 1_000_000_001), (2_000_000_000_000_000_000, 4_000_000_000_123_456_789), None]
FLAGS = [
    os.O_RDONLY, os.O_WRONLY, os.O_RDWR, os.O_RDONLY | os.O_DIRECTORY, os.O_RDWR | os.O_DIRECTORY, os.O_RDONLY | os.O_NOFOLLOW,
    os.O_WRONLY | os.O_NOFOLLOW, os.O_PATH, os.O_PATH | os.O_NOFOLLOW, os.O_RDONLY | os.O_TRUNC, os.O_WRONLY | os.O_TRUNC,
    os.O_RDWR | os.O_CREAT, os.O_RDONLY | os.O_CREAT | os.O_EXCL, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, os.O_WRONLY | os.O_APPEND,
]
HOLDING = [os.O_RDWR] * 4 + [os.O_RDWR | os.O_APPEND] * 2 + [os.O_RDONLY, os.O_WRONLY, os.O_RDONLY | os.O_DIRECTORY, os.O_RDWR | os.O_NOFOLLOW]
ALLOCATING = [0, KEEP_SIZE, PUNCH_HOLE | KEEP_SIZE, ZERO_RANGE, ZERO_RANGE | KEEP_SIZE, PUNCH_HOLE]
FILE_MODES = [0o644, 0o600, 0o4755, 0o666, 0o2775, 0o6777, 0o660]
FOLDER_MODES = [0o755, 0o2775, 0o1777, 0o777, 0o777, 0o770, 0o2777, 0o2777]

WEIGHTS = {
    "create": 14, "open": 5, "pwrite": 8, "append": 5, "read": 8, "truncate": 5, "allocate": 3, "copy": 4, "holes": 3,
    "mkdir": 8, "rmdir": 4, "unlink": 8, "symlink": 3, "readlink": 2, "link": 6, "rename": 14, "mknod": 2,
    "chmod": 5, "chown": 4, "utime": 3, "setxattr": 3, "set_list": 4, "xattrs": 2, "getxattr": 1, "removexattr": 2,
    "list": 4, "status": 6, "follow": 2, "access": 3, "longest_name": 1,
    "hold": 8, "hold_unnamed": 2, "name_held": 3, "let_go": 2, "use_held": 4, "write_held": 4, "status_held": 1, "truncate_held": 3,
    "sync_held": 2, "allocate_held": 2, "chmod_held": 1, "chown_held": 1, "utime_held": 1, "map_held": 2, "flock_held": 3,
    "lock_held": 4, "xattrs_held": 1, "open_in_held": 2, "list_held": 1,
}


class Path(bytes):
    """So that arguments which are paths can be told from content."""


class Slot(int):
    """Of a held descriptor."""


class Chance:
    def __init__(self, seed, root):
        self.random = random.Random(seed)
        self.root = os.fsencode(root)

    def known(self, kinds):
        """What there is of directories (0), of all else (1)."""
        found = []
        for folder, *names in os.walk(self.root):
            names[0].sort()
            found += [os.path.relpath(os.path.join(folder, name), self.root) for kind in kinds for name in sorted(names[kind])]
        return [path for path in found if os.path.basename(path) != b"keep"]

    def file(self):
        """A path that is a file's more often than not."""
        return self.path([1] if self.random.random() < 0.8 else [0, 1])

    def path(self, kinds=(0, 1)):
        r = self.random
        known = self.known(kinds) if r.random() < 0.7 else None
        path = r.choice(known) if known else os.path.normpath(os.path.join(self.folder(), r.choice(NAMES)))
        odd = r.random()
        if odd < 0.01:
            path = os.path.join(os.path.dirname(path), b"f" * 256)
        elif odd < 0.03:
            path += b"/"
        elif odd < 0.04:
            path += b"/a"  # of a file: ENOTDIR
        return Path(path)

    def folder(self):
        return Path(self.random.choice(FOLDERS))

    def either(self):
        return self.folder() if self.random.random() < 0.3 else self.path()

    def slot(self):
        return Slot(self.random.randrange(6))

    def content(self):
        size = self.random.choice([1, 10, 300, 4096, 5000, 20_000, 70_000])
        return bytes([self.random.randrange(1, 256)]) * size

    def offset(self):
        return self.random.choice([0, 1, 100, 4095, 4096, 10_000, 100_000])

    def size(self):
        return self.random.choice([0, 1, 4096, 5000, 200_000])

    def access_list(self):
        """Well formed: in the order of tags, with a mask where somebody is named."""
        r = self.random
        entries = [(tag, r.randrange(8), 0xFFFFFFFF) for tag in (1, 4, 32)]
        named = [(2, r.randrange(8), 1000), (2, r.randrange(8), 1001), (8, r.randrange(8), 2000)]
        named = [each for each in named if r.random() < 0.4]
        if named or r.random() < 0.2:
            entries += named + [(16, r.randrange(8), 0xFFFFFFFF)]
        return struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *each) for each in sorted(entries, key=lambda each: (each[0], each[2])))

    def who(self):
        """Root more often than not, as it makes most of what others meet."""
        r = self.random
        return r.choice(USERS) if r.random() < 0.4 else ROOT, r.choice([0o022, 0o022, 0, 0o027])

    def operation(self):
        """Its name, who does it, whether times are looked at, and its arguments."""
        what = self.random.choices(list(WEIGHTS), WEIGHTS.values())[0]
        arguments = (self.by_path(what) or self.by_slot(what))()
        return what, self.who(), self.random.random() < 0.3, arguments

    def by_path(self, what):
        r = self.random
        return {
            "create": lambda: (self.file(), r.choice([0, os.O_EXCL, os.O_TRUNC]), r.choice(FILE_MODES), r.choice([b"", self.content()])),
            "open": lambda: (self.either(), r.choice(FLAGS), r.choice(FILE_MODES)),
            "pwrite": lambda: (self.file(), self.offset(), self.content()),
            "append": lambda: (self.file(), self.content()),
            "truncate": lambda: (self.file(), self.size()),
            "allocate": lambda: (self.file(), r.choice(ALLOCATING), self.offset(), self.size()),
            "copy": lambda: (self.file(), self.file(), self.offset(), self.offset(), r.choice([1, 4096, 50_000, 300_000])),
            "holes": lambda: (self.file(), r.choice([None, 0, 4096, 8192]), r.choice([0, 1, 4096])),
            "mkdir": lambda: (self.either(), r.choice(FOLDER_MODES)),
            "symlink": lambda: (r.choice([b"a", b"../b", b"nowhere", b"x" * 3000, b"", b"."]), self.path()),
            "link": lambda: (self.file(), self.path()),
            "rename": lambda: (self.either(), self.either(), r.choice([0, 0, 0, NOREPLACE, EXCHANGE, EXCHANGE | NOREPLACE])),
            "mknod": lambda: (self.path(), r.choice([stat.S_IFIFO, stat.S_IFSOCK]), 0o666),
            "chmod": lambda: (self.either(), r.choice(FILE_MODES + 2 * FOLDER_MODES + [0o4711, 0])),
            "chown": lambda: (self.either(), r.choice(UIDS), r.choice(GIDS)),
            "utime": lambda: (self.path(), r.choice(TIMES)),
            "setxattr": lambda: (self.file(), r.choice([b"user.one", b"user.two", b"trusted.three"]), b"v" * r.choice([0, 5, 300]), r.choice([0, os.XATTR_CREATE, os.XATTR_REPLACE])),
            "set_list": lambda: (self.either(), r.choice(LISTS), self.access_list()),
            "getxattr": lambda: (self.path(), r.choice(LISTS + [b"user.one", b"trusted.three", b"nothing"])),
            "removexattr": lambda: (self.either(), r.choice(LISTS + [b"user.one", b"user.two", b"trusted.three"])),
            "access": lambda: (self.either(), r.randrange(8), r.random() < 0.5),
        }.get(what) or {
            **dict.fromkeys(["read", "readlink"], lambda: (self.file(),)),
            **dict.fromkeys(["rmdir", "unlink", "xattrs", "list", "status", "follow", "longest_name"], lambda: (self.either(),)),
        }.get(what)

    def by_slot(self, what):
        r = self.random
        return {
            "hold": lambda: (self.slot(), r.choice([self.file, self.file, self.either])(), r.choice(HOLDING)),
            "hold_unnamed": lambda: (self.slot(), self.folder(), r.choice([os.O_RDWR, os.O_WRONLY, os.O_RDWR | os.O_EXCL]), r.choice(FILE_MODES)),
            "name_held": lambda: (self.slot(), r.choice(NAMES)),
            "use_held": lambda: (self.slot(), self.offset(), self.content()),
            "write_held": lambda: (self.slot(), self.content()),
            "truncate_held": lambda: (self.slot(), self.size()),
            "sync_held": lambda: (self.slot(), r.random() < 0.5),
            "allocate_held": lambda: (self.slot(), r.choice(ALLOCATING), self.offset(), self.size()),
            "chmod_held": lambda: (self.slot(), r.choice(FILE_MODES)),
            "chown_held": lambda: (self.slot(), r.choice(UIDS), r.choice(GIDS)),
            "utime_held": lambda: (self.slot(), r.choice(TIMES)),
            "map_held": lambda: (self.slot(), self.offset(), self.content()),
            "flock_held": lambda: (self.slot(), r.choice([fcntl.LOCK_SH, fcntl.LOCK_EX, fcntl.LOCK_UN])),
            "lock_held": lambda: (self.slot(), r.choice(["descriptor", "descriptor", "process"]), r.choice([fcntl.F_RDLCK, fcntl.F_WRLCK, fcntl.F_UNLCK]), r.choice([0, 5]), r.choice([0, 3, 10])),
            "open_in_held": lambda: (self.slot(), r.choice(NAMES), r.choice(FLAGS), r.choice(FILE_MODES)),
        }.get(what, lambda: (self.slot(),))

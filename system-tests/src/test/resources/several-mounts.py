"""Random operations on three files through several mounts in turn, as of one program: each sees what the ones before did.

usage: several-mounts.py SEED COUNT FOLDER MOUNT...

Descriptors and mappings stay open, on every mount, while the files are changed, renamed and removed through the others.
What a mount has not committed yet is synced before another is used: written content is the others' to see at close or
fsync. Ends with 1 at the first difference from a model in memory, which it prints with the operations that led there.

Before it touches a mapping or copies a range the program asks for the size, as programs do: nothing else tells it of
what others have added within the last moments (docs/fuse.md).
"""
import collections
import ctypes
import errno
import mmap
import os
import random
import sys

LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.fallocate.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.c_int64, ctypes.c_int64]
KEEP_SIZE, PUNCH_HOLE, ZERO_RANGE = 1, 2, 16
NAMES = ["one", "two", "three"]
SLOTS = 3
SIZE = 300_000
WEIGHTS = {
    "open": 12, "close": 5, "write": 20, "truncate": 5, "read": 14, "map": 5, "read_mapped": 12, "write_mapped": 6,
    "rename": 3, "unlink": 3, "allocate": 5, "copy": 4, "stat": 6, "read_whole": 5, "sync": 2, "seek": 3,
}


class File:
    def __init__(self):
        self.content = bytearray()

    def put(self, offset, content):
        self.reach(offset)
        self.content[offset:offset + len(content)] = content

    def reach(self, size):
        self.content.extend(bytes(max(0, size - len(self.content))))


Held = collections.namedtuple("Held", "mount fd file flags")


class Program:
    def __init__(self, seed, roots):
        self.random = random.Random(seed)
        self.roots = roots
        self.files = {}
        self.held = {}
        self.mapped = {}
        self.unsynced = (None, set())
        self.done = collections.deque(maxlen=60)

    def go(self, count):
        for i in range(count):
            what = self.random.choices(list(WEIGHTS), WEIGHTS.values())[0]
            self.done.append([i, what])
            getattr(self, what)()
        for mount, root in enumerate(self.roots):
            self.through(mount)
            for name, file in self.files.items():
                with open(os.path.join(root, name), "rb") as f:
                    self.same(f.read(), file.content, f"{name} in the end, mount {mount}")

    def note(self, *of):
        self.done[-1] += of

    def expect(self, holds, *why):
        if not holds:
            for line in self.done:
                print(*line)
            sys.exit(" ".join(map(str, why)))

    def same(self, got, expected, where):
        if got != expected:
            at = next((i for i, (a, b) in enumerate(zip(got, expected)) if a != b), min(len(got), len(expected)))
            self.expect(False, f"{where}: {len(got)} bytes, expected {len(expected)}; from {at} on",
                        bytes(got[at:at + 8]), "instead of", bytes(expected[at:at + 8]))

    def through(self, mount):
        """What others have written is to be seen there."""
        if self.unsynced[0] != mount:
            for fd in self.unsynced[1]:
                os.fsync(fd)
            self.unsynced = (mount, set())

    def written(self, held):
        self.unsynced[1].add(held.fd)
        self.note(len(held.file.content))
        self.read()

    def some_mount(self):
        mount = self.random.randrange(len(self.roots))
        self.through(mount)
        return mount

    def some(self, writable=False):
        """One of the open files, or None."""
        if not self.held:
            return None
        slot = self.random.choice(list(self.held))
        held = self.held[slot]
        if writable and held.flags & os.O_ACCMODE == os.O_RDONLY:
            return None
        self.note(*slot)
        self.through(held.mount)
        self.expect(os.fstat(held.fd).st_size == len(held.file.content), "size of", slot, os.fstat(held.fd).st_size,
                    "instead of", len(held.file.content))
        return held

    def place(self, file):
        r = self.random
        return r.choice([r.randrange(SIZE), r.randrange(len(file.content) + 1), len(file.content), 4096 * r.randrange(SIZE // 4096)])

    def bytes(self):
        size = self.random.choice([1, 10, 500, 4096, 8192, 20_000, 70_000])
        return bytes([self.random.randrange(1, 256)]) * size

    def named(self, operation, *names):
        """Does what has to fail just where the first name is not there."""
        try:
            result = operation()
        except FileNotFoundError:
            self.expect(names[0] not in self.files, names[0], "is not found")
            return None
        self.expect(names[0] in self.files, names[0], "is found, and should not")
        return result

    def open(self):
        mount, slot, name = self.some_mount(), self.random.randrange(SLOTS), self.random.choice(NAMES)
        flags = self.random.choice([os.O_RDWR, os.O_RDWR, os.O_RDONLY, os.O_RDWR | os.O_APPEND, os.O_RDWR | os.O_TRUNC])
        self.note(mount, slot, name, oct(flags))
        if self.random.random() < 0.7:
            flags |= os.O_CREAT
            if name not in self.files:
                self.files[name] = File()
        fd = self.named(lambda: os.open(os.path.join(self.roots[mount], name), flags, 0o644), name)
        if fd is not None:
            self.let_go(mount, slot)
            self.held[mount, slot] = Held(mount, fd, self.files[name], flags)
            if flags & os.O_TRUNC:
                self.files[name].content.clear()

    def let_go(self, mount, slot):
        held = self.held.pop((mount, slot), None)
        if held:
            if held.fd in self.mapped:
                self.mapped.pop(held.fd).close()
            self.unsynced[1].discard(held.fd)
            os.close(held.fd)

    def close(self):
        if self.held:
            slot = self.random.choice(list(self.held))
            self.note(*slot)
            self.let_go(*slot)

    def write(self):
        held = self.some(writable=True)
        if held:
            content = self.bytes()
            append = held.flags & os.O_APPEND
            at = len(held.file.content) if append else self.place(held.file)
            self.note(at, len(content), content[0])
            written = os.write(held.fd, content) if append else os.pwrite(held.fd, content, at)
            self.expect(written == len(content), "wrote", written)
            held.file.put(at, content)
            self.written(held)

    def truncate(self):
        held = self.some(writable=True)
        if held:
            size = self.random.choice([0, self.place(held.file)])
            os.ftruncate(held.fd, size)
            del held.file.content[size:]
            held.file.reach(size)
            self.written(held)

    def read(self):
        held = self.some()
        if held:
            at = self.random.randrange(len(held.file.content) + 1)
            size = self.random.choice([1, 100, 4096, 65536, SIZE])
            self.same(os.pread(held.fd, size, at), held.file.content[at:at + size], f"read at {at}")

    def map(self):
        held = self.some()
        if held and held.file.content and held.fd not in self.mapped:
            writable = 0 if held.flags & os.O_ACCMODE == os.O_RDONLY else mmap.PROT_WRITE
            size = len(held.file.content)
            self.mapped[held.fd] = mmap.mmap(held.fd, size, mmap.MAP_SHARED, mmap.PROT_READ | writable)

    def some_mapped(self, writable=False):
        """An open file, its mapping, and how much of it there is."""
        held = self.some(writable)
        mapped = self.mapped.get(held.fd) if held else None
        size = min(len(mapped), len(held.file.content)) if mapped else 0
        return (held, mapped, size) if size else (None, None, 0)

    def read_mapped(self):
        held, mapped, size = self.some_mapped()
        if held:
            at = self.random.randrange(size)
            end = min(size, at + self.random.choice([1, 5000, SIZE]))
            self.same(mapped[at:end], held.file.content[at:end], f"mapped at {at}")

    def write_mapped(self):
        held, mapped, size = self.some_mapped(writable=True)
        if held:
            at = self.random.randrange(size)
            content = self.bytes()[:size - at]
            self.note(at, len(content), content[0])
            mapped[at:at + len(content)] = content
            held.file.put(at, content)
            mapped.flush()
            self.written(held)

    def rename(self):
        mount, old, new = self.some_mount(), self.random.choice(NAMES), self.random.choice(NAMES)
        self.note(mount, old, new)
        root = self.roots[mount]
        self.named(lambda: os.rename(os.path.join(root, old), os.path.join(root, new)), old)
        if old in self.files:
            self.files[new] = self.files.pop(old)

    def unlink(self):
        mount, name = self.some_mount(), self.random.choice(NAMES)
        self.note(mount, name)
        self.named(lambda: os.unlink(os.path.join(self.roots[mount], name)), name)
        self.files.pop(name, None)

    def allocate(self):
        held = self.some(writable=True)
        if held:
            mode = self.random.choice([0, KEEP_SIZE, PUNCH_HOLE | KEEP_SIZE, ZERO_RANGE, ZERO_RANGE | KEEP_SIZE])
            at, size = self.place(held.file), self.random.choice([1, 4096, 5000, 65536])
            self.note(mode, at, size)
            self.expect(LIBC.fallocate(held.fd, mode, at, size) == 0, "fallocate:", os.strerror(ctypes.get_errno()))
            if not mode & KEEP_SIZE:
                held.file.reach(at + size)
            if mode & (PUNCH_HOLE | ZERO_RANGE):
                end = min(at + size, len(held.file.content))
                held.file.content[at:end] = bytes(max(0, end - at))
            self.written(held)

    def copy(self):
        to, source = self.some(writable=True), self.some()
        if to and not to.flags & os.O_APPEND and source.mount == to.mount and source.file is not to.file:
            start, at = self.random.randrange(len(source.file.content) + 1), self.place(to.file)
            content = source.file.content[start:start + self.random.choice([1, 4096, 50_000])]
            self.note(start, at, len(content))
            if content:
                copied = os.copy_file_range(source.fd, to.fd, len(content), start, at)
                self.expect(copied == len(content), "copied", copied)
                to.file.put(at, content)
                self.written(to)

    def stat(self):
        mount, name = self.some_mount(), self.random.choice(NAMES)
        self.note(mount, name)
        status = self.named(lambda: os.stat(os.path.join(self.roots[mount], name)), name)
        if status:
            self.expect(status.st_size == len(self.files[name].content), "size", status.st_size)

    def read_whole(self):
        mount, name = self.some_mount(), self.random.choice(NAMES)
        self.note(mount, name)

        def whole():
            with open(os.path.join(self.roots[mount], name), "rb") as f:
                return f.read()

        content = self.named(whole, name)
        if content is not None:
            self.same(content, self.files[name].content, name)

    def sync(self):
        held = self.some()
        if held:
            os.fsync(held.fd)

    def seek(self):
        held = self.some()
        if held:
            at, size = self.place(held.file), len(held.file.content)
            try:
                data = os.lseek(held.fd, at, os.SEEK_DATA)
            except OSError as e:
                self.expect(e.errno == errno.ENXIO, e)
                data = size
            self.expect(at >= size or at <= data <= size, "data after", at, "is at", data)
            self.expect(not any(held.file.content[at:data]), "there is data between", at, "and", data)


def main():
    seed, count, folder, mounts = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4:]
    roots = [os.path.join(mount, folder) for mount in mounts]
    os.mkdir(roots[0])
    Program(seed, roots).go(count)


main()

"""What programs can do with a file's content, checked on a mount (A) and through a second one (B).

usage: content.py A B    two paths of one directory; prints one line a check, ends with 1 at the first that fails
"""
import ctypes
import errno
import mmap
import os
import random
import resource
import signal
import subprocess
import sys

A, B = sys.argv[1], sys.argv[2]
KEEP, PUNCH, COLLAPSE, ZERO = 1, 2, 8, 16
libc = ctypes.CDLL(None, use_errno=True)
libc.fallocate.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.c_long, ctypes.c_long]


def fallocate(fd, mode, offset, length):
    if libc.fallocate(fd, mode, offset, length) != 0:
        raise OSError(ctypes.get_errno(), "fallocate")


def name_it(fd, name):
    path = os.path.join(A, name).encode()
    if libc.linkat(-100, b"/proc/self/fd/%d" % fd, -100, path, 0x400) != 0:  # AT_SYMLINK_FOLLOW
        raise OSError(ctypes.get_errno(), "linkat")


def fails(number, call, *args):
    try:
        call(*args)
    except OSError as e:
        assert e.errno == number, (errno.errorcode[e.errno], "instead of", errno.errorcode[number])
        return
    raise AssertionError("no " + errno.errorcode[number])


def make(name, content=b""):
    fd = os.open(os.path.join(A, name), os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o644)
    os.pwrite(fd, content, 0)
    return fd


def whole(fd):
    return os.pread(fd, os.fstat(fd).st_size + 1, 0)


def elsewhere(name):
    with open(os.path.join(B, name), "rb") as f:
        return f.read()


def space(fd):
    os.fsync(fd)
    return os.stat("/proc/self/fd/%d" % fd).st_blocks * 512


def allocation():
    data = random.Random(1).randbytes(100_000)
    fd = make("allocated", data)
    fallocate(fd, 0, 50_000, 150_000)
    assert whole(fd) == data + bytes(100_000)
    assert space(fd) >= 200_000
    assert os.lseek(fd, 0, os.SEEK_HOLE) == 100_000
    fails(errno.ENXIO, os.lseek, fd, 100_000, os.SEEK_DATA)
    fallocate(fd, KEEP, 0, 1_000_000)
    assert os.fstat(fd).st_size == 200_000 and space(fd) >= 1_000_000
    os.ftruncate(fd, 200_000)
    assert space(fd) < 300_000
    os.pwrite(fd, b"dirty", 10)  # still buffered when the hole is made around it
    fallocate(fd, PUNCH | KEEP, 5, 60_000)
    expected = bytearray(data + bytes(100_000))
    expected[5:60_005] = bytes(60_000)
    assert whole(fd) == expected
    fallocate(fd, ZERO, 90_000, 130_000)
    expected[90_000:] = bytes(130_000)
    assert whole(fd) == expected
    fallocate(fd, ZERO | KEEP, 0, 7)
    expected[0:7] = bytes(7)
    os.pwrite(fd, b"end", 219_997)
    expected[219_997:] = b"end"
    assert whole(fd) == expected
    fails(errno.EOPNOTSUPP, fallocate, fd, COLLAPSE, 0, 4096)
    fails(errno.ENOSPC, fallocate, fd, 0, 0, 1 << 59)
    os.close(fd)
    assert elsewhere("allocated") == expected
    read_only = os.open(os.path.join(A, "allocated"), os.O_RDONLY)
    fails(errno.EBADF, fallocate, read_only, 0, 0, 10)
    os.close(read_only)


def holes():
    fd = make("holes")
    os.pwrite(fd, b"x" * 10_000, 1_000_000)  # not committed yet
    assert os.lseek(fd, 0, os.SEEK_DATA) <= 1_000_000
    assert os.lseek(fd, 0, os.SEEK_HOLE) == 0
    assert 1_010_000 <= os.lseek(fd, 1_000_000, os.SEEK_HOLE) <= 1_010_000
    os.pwrite(fd, b"y", (1 << 40) - 1)
    assert os.fstat(fd).st_size == 1 << 40
    assert os.lseek(fd, 2_000_000, os.SEEK_DATA) == (1 << 40) - 1
    assert space(fd) < 100_000
    assert os.pread(fd, 100, 1 << 39) == bytes(100)
    os.ftruncate(fd, 500)
    os.ftruncate(fd, 2_000_000)
    assert whole(fd) == bytes(2_000_000)
    os.close(fd)
    assert elsewhere("holes") == bytes(2_000_000)


def copies():
    data = random.Random(2).randbytes(3_000_000)
    source = make("source", data)
    target = make("target", b"t" * 1_000_000)
    left, at = 2_500_000, 0
    while left:
        done = os.copy_file_range(source, target, left, 100_001 + at, 500_000 + at)
        assert done > 0
        left, at = left - done, at + done
    expected = b"t" * 500_000 + data[100_001:2_600_001]
    assert whole(target) == expected
    assert os.copy_file_range(source, target, 10, 3_000_000, 0) == 0
    fails(errno.EINVAL, os.copy_file_range, source, source, 1000, 0, 500)
    assert os.copy_file_range(source, source, 1000, 0, 2000) == 1000
    assert whole(source)[2000:3000] == data[:1000]
    os.pwrite(source, b"later", 1_000_000)
    assert whole(target) == expected
    os.close(source)
    os.close(target)
    os.unlink(os.path.join(A, "source"))
    assert elsewhere("target") == expected
    assert os.system("cp --reflink=auto %s/target %s/copy && cmp %s/target %s/copy" % (A, A, A, B)) == 0


def temporary():
    fd = os.open(A, os.O_TMPFILE | os.O_RDWR, 0o640)
    os.write(fd, b"unnamed")
    assert os.fstat(fd).st_nlink == 0
    name_it(fd, "named")
    os.write(fd, b", named")
    os.fsync(fd)
    assert os.fstat(fd).st_nlink == 1
    os.close(fd)
    assert elsewhere("named") == b"unnamed, named"
    fd = os.open(A, os.O_TMPFILE | os.O_RDWR | os.O_EXCL, 0o640)
    fails(errno.ENOENT, name_it, fd, "never")
    os.close(fd)


def mappings():
    fd = make("mapped", bytes(1_000_000))
    shared = mmap.mmap(fd, 1_000_000)
    private = mmap.mmap(fd, 1_000_000, flags=mmap.MAP_PRIVATE)
    private[0:7] = b"private"
    shared[500_000:500_006] = b"shared"
    shared.flush()
    os.fsync(fd)
    expected = bytearray(1_000_000)
    expected[500_000:500_006] = b"shared"
    assert elsewhere("mapped") == expected
    shared[999_990:1_000_000] = b"unsynced.."
    expected[999_990:] = b"unsynced.."
    shared.close()
    private.close()
    os.close(fd)
    assert elsewhere("mapped") == expected
    sparse_mapping()


def sparse_mapping():
    """What only a mapping was told is data, for lseek(2) and so for cp(1), before anybody syncs it."""
    fd = make("sparse-mapped", b"")
    os.ftruncate(fd, 1 << 20)
    with mmap.mmap(fd, 1 << 20) as shared:
        shared[700_000] = 1
        assert os.lseek(fd, 0, os.SEEK_DATA) <= 700_000
        assert os.lseek(fd, 700_000, os.SEEK_HOLE) > 700_000
        shared[900_000] = 2
        copy = os.path.join(A, "sparse-copied")
        subprocess.run(["cp", "--sparse=auto", os.path.join(A, "sparse-mapped"), copy], check=True)
        with open(copy, "rb") as copied:
            assert copied.read() == bytes(shared)
    os.close(fd)


def direct():
    """O_DIRECT, buffered and mapped access to one file in turns: each sees what the others wrote."""
    size, page = 1 << 20, 4096
    path = os.path.join(A, "direct")
    plain = make("direct", bytes(size))
    raw = os.open(path, os.O_RDWR | os.O_DIRECT)
    mapped = mmap.mmap(plain, size)
    model = bytearray(size)
    seed = int(os.environ.get("SEED", "3"))
    rng = random.Random(seed)
    buffer = mmap.mmap(-1, 64 * page)  # aligned
    for step in range(int(os.environ.get("DIRECT_OPERATIONS", "400"))):
        at = rng.randrange(0, size // page) * page
        length = min(rng.randrange(1, 65) * page, size - at)
        text = rng.randbytes(length)
        kind = rng.randrange(7)
        if kind == 0:
            buffer[:length] = text
            assert os.pwritev(raw, [memoryview(buffer)[:length]], at) == length
        elif kind == 1:
            os.pwrite(plain, text, at)
        elif kind == 2:
            mapped[at : at + length] = text
            mapped.flush(at, length)
        elif kind == 3:
            assert os.preadv(raw, [memoryview(buffer)[:length]], at) == length
            assert buffer[:length] == model[at : at + length], ("direct", seed, step, at, length)
        elif kind == 4:
            assert os.pread(plain, length, at) == model[at : at + length], ("plain", seed, step, at)
        elif kind == 5:
            assert mapped[at : at + length] == model[at : at + length], ("mapped", seed, step, at)
        else:
            fallocate(raw, PUNCH | KEEP, at, length)
            text = bytes(length)
        if kind < 3 or kind == 6:
            model[at : at + length] = text
    mapped.close()
    os.close(raw)
    os.close(plain)
    assert elsewhere("direct") == model


def limits():
    fd = make("limits")
    fails(errno.EFBIG, os.pwrite, fd, b"x", 1 << 60)
    fails(errno.EFBIG, os.ftruncate, fd, (1 << 60) + 1)
    fails(errno.EFBIG, fallocate, fd, KEEP, 1 << 60, 10)
    assert os.pwrite(fd, b"abc", (1 << 60) - 2) == 2
    os.ftruncate(fd, 0)
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, before[1]))
    assert os.pwrite(fd, b"x" * 20_000, 0) == 10_000
    fails(errno.EFBIG, os.pwrite, fd, b"x", 10_000)
    fails(errno.EFBIG, os.ftruncate, fd, 10_001)
    fails(errno.EFBIG, fallocate, fd, 0, 0, 10_001)
    resource.setrlimit(resource.RLIMIT_FSIZE, before)
    os.close(fd)


def writers():
    """Two clients write every second 1,000 bytes each: nothing is lost, nothing is mixed."""
    os.close(make("writers", bytes(1_000_000)))
    child = os.fork()
    own = os.open(os.path.join(B if child == 0 else A, "writers"), os.O_RDWR)
    byte = b"b" if child == 0 else b"a"
    order = list(range(0 if child else 1, 1000, 2))
    random.Random(4).shuffle(order)
    for n, i in enumerate(order):
        os.pwrite(own, byte * 1000, i * 1000)
        if n % 50 == 0:
            os.fsync(own)
    os.close(own)
    if child == 0:
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    assert elsewhere("writers") == (b"a" * 1000 + b"b" * 1000) * 500


def fragments():
    """Small writes all over a file: rewritten in the background, with the same bytes."""
    fd = make("fragments", b"." * (2 << 20))
    os.fsync(fd)
    expected = bytearray(b"." * (2 << 20))
    rng = random.Random(5)
    for n in range(1200):
        at, text = rng.randrange(0, (2 << 20) - 700), rng.randbytes(rng.randrange(1, 700))
        os.pwrite(fd, text, at)
        expected[at : at + len(text)] = text
        if n % 100 == 99:
            os.fsync(fd)
            assert whole(fd) == expected
    os.close(fd)
    assert elsewhere("fragments") == expected


def follow(path, records):
    """Reads what is there of a file that grows by numbered records of 100 bytes, until it has all."""
    fd = os.open(path, os.O_RDONLY)
    at = 0
    while at < records * 100:
        got = os.pread(fd, 65536, at)
        expected = b"".join(b"%099d\n" % n for n in range(at // 100, (at + len(got)) // 100 + 1))
        assert got == expected[at % 100 :][: len(got)], (at, len(got), got[-100:])
        at += len(got)


def followed():
    """Two processes read a file all the while as a third appends to it, synced or not."""
    for sync, records in [(False, 600), (True, 200)]:
        name = "followed-%d" % sync
        fd = os.open(os.path.join(A, name), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        readers = []
        for _ in range(2):
            child = os.fork()
            if child == 0:
                try:
                    signal.alarm(60)
                    follow(os.path.join(A, name), records)
                    os._exit(0)
                except BaseException as e:
                    print("followed:", repr(e), flush=True)
                    os._exit(1)
            readers.append(child)
        for n in range(records):
            os.write(fd, b"%099d\n" % n)
            if sync:
                os.fsync(fd)
            assert os.fstat(fd).st_size == 100 * (n + 1)
        for child in readers:
            assert os.waitpid(child, 0)[1] == 0
        os.close(fd)
        assert len(elsewhere(name)) == 100 * records


CHECKS = [allocation, holes, copies, temporary, mappings, direct, limits, writers, fragments, followed]
for check in CHECKS:
    check()
    print(check.__name__, "ok", flush=True)

"""What a full disk must not spoil, on two regions' mounts: disk.py RULE MOUNT_A MOUNT_B NOTES."""

import concurrent.futures
import errno
import hashlib
import json
import os
import shutil
import sys
import time

A, B, NOTES = sys.argv[2:5]
MIB = 1 << 20
BIG = 8 * MIB
SMALL = 16_000
WRITERS = 4
LOADED = 50
BEGUN = 20


def noted():
    """Path below a mount -> digest, of what was acknowledged."""
    if not os.path.exists(NOTES):
        return {}
    with open(NOTES) as f:
        return json.load(f)


def note(files):
    with open(NOTES, "w") as f:
        json.dump(files, f)


def digest(data):
    return hashlib.sha256(data).hexdigest()


def content(mount, name):
    with open(os.path.join(mount, name), "rb") as f:
        return f.read()


def full(call, *arguments, **named):
    """Whether it found no room; another error is a failure."""
    try:
        call(*arguments, **named)
    except OSError as e:
        assert e.errno == errno.ENOSPC, e
        return True
    return False


def put(path, data):
    """Acknowledged when it returns."""
    fd = os.open(path, os.O_WRONLY | os.O_CREAT, 0o644)
    try:
        view = memoryview(data)
        while view:
            view = view[os.write(fd, view) :]
        os.fsync(fd)
    finally:
        os.close(fd)


def fill(folder, size, writers):
    """New files until there is no room; what was acknowledged is noted."""
    os.makedirs(os.path.join(A, folder), exist_ok=True)

    def write(writer):
        files = {}
        for i in range(20_000):
            data = os.urandom(size)
            name = f"{folder}/{writer}-{i}"
            if full(put, os.path.join(A, name), data):
                return files
            files[name] = digest(data)
        raise AssertionError(f"{len(files)} files of {size} bytes found room")

    files = noted()
    with concurrent.futures.ThreadPoolExecutor(writers) as threads:
        for written in threads.map(write, range(writers)):
            files |= written
    note(files)
    print(len(files))


def until(condition, seconds, what):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, what
        time.sleep(0.2)


def big():
    """A descriptor that met the end goes on when a truncation makes room."""
    os.makedirs(os.path.join(A, "full"), exist_ok=True)
    put(os.path.join(A, "full/ballast"), os.urandom(24 * MIB))
    fill("full/big", BIG, 2)
    last = os.open(os.path.join(A, "full/last"), os.O_RDWR | os.O_CREAT, 0o644)

    def write():
        os.pwrite(last, b"x" * BIG, 0)
        os.fsync(last)

    until(lambda: full(write), 20, "a block always finds room")
    os.truncate(os.path.join(A, "full/ballast"), MIB)
    until(lambda: not full(write), 30, "no room after a truncation")
    assert os.pread(last, BIG + 1, 0) == b"x" * BIG
    os.close(last)
    note(noted() | {"full/last": digest(b"x" * BIG)})


def small():
    """Small files need no storage node: they end when replicas have no room."""
    fill("full/small", SMALL, WRITERS)


def used():
    """What needs no room works while there is none, everywhere; what needs some says so."""
    files = noted()
    check(A)
    names = sorted(n for n in files if n.startswith("full/small/"))
    assert set(os.listdir(os.path.join(B, "full/big"))) >= {
        n.rsplit("/", 1)[1] for n in files if n.startswith("full/big/")
    }

    def moved(name, other):
        os.rename(os.path.join(A, name), os.path.join(A, other))
        files[other] = files.pop(name)

    for name in names[:20]:
        moved(name, name + ".moved")
    kept = os.path.join(A, names[20])
    os.chmod(kept, 0o600)
    os.utime(kept, (1, 1))
    assert os.stat(kept).st_mode & 0o777 == 0o600
    assert full(os.mkdir, os.path.join(A, "full/d"))
    assert full(os.symlink, "x", os.path.join(A, "full/s"))
    assert full(os.link, kept, os.path.join(A, "full/l"))
    assert full(os.mknod, os.path.join(A, "full/n"))
    assert full(os.setxattr, kept, "user.a", b"b")
    assert full(put, kept, b"other")
    assert full(put, os.path.join(A, "full/new"), b"new")
    assert not os.path.exists(os.path.join(A, "full/new"))
    cut = os.path.join(A, names[21])
    os.truncate(cut, 100)
    files[names[21]] = digest(content(A, names[21]))
    assert os.stat(cut).st_size == 100
    for name in names[22:30] + sorted(n for n in files if n.startswith("full/big/"))[::2]:
        os.unlink(os.path.join(A, name))
        del files[name]
        assert not os.path.exists(os.path.join(A, name))
    note(files)


def removed():
    """Room returns by itself, at once when a file is cut."""
    files = noted()
    for name in sorted(n for n in files if n.startswith("full/big/"))[:3]:
        os.truncate(os.path.join(A, name), 0)
        files[name] = digest(b"")
    note(files)
    new = os.path.join(A, "full/after")
    until(lambda: not full(put, new, b"after"), 60, "no room after removals")
    note(files | {"full/after": digest(b"after")})


def room():
    """The space of removed files is there again."""
    data = os.urandom(BIG)
    files = noted()
    for i in range(6):
        name = f"full/again{i}"
        until(lambda: not full(put, os.path.join(A, name), data), 100, f"no room for file {i}")
        note(noted() | {name: digest(data)})


def load():
    """Writes, whatever comes, until told to stop; notes what was acknowledged, and is still there."""
    files = noted()
    made = lambda: not full(os.makedirs, os.path.join(A, "full/load"), exist_ok=True)
    until(made, 60, "no room for a directory")  # what replicas still write may take it for a moment
    kept = []
    i = 0
    while not os.path.exists(NOTES + ".stop"):
        name = f"full/load/{i}"
        data = os.urandom(MIB if i % 8 == 0 else SMALL)
        try:
            put(os.path.join(A, name), data)
            files[name] = digest(data)
            kept.append(name)
            if len(kept) == BEGUN:
                open(NOTES + ".begun", "w").close()
            if len(kept) > LOADED:  # or they would fill the disk that others make room on
                oldest = kept.pop(0)
                del files[oldest]
                os.unlink(os.path.join(A, oldest))
        except OSError as e:
            assert e.errno in (errno.ENOSPC, errno.EIO), e
            time.sleep(0.05)
        i += 1
    note(files)
    print(i)


def check(mount):
    files = noted()
    for name, expected in files.items():
        assert digest(content(mount, name)) == expected, f"{name} through {mount}"
    print(len(files))


def verify():
    """What was acknowledged is there."""
    check(A)
    check(B)


def empty():
    shutil.rmtree(os.path.join(A, "full"))
    note({})


globals()[sys.argv[1]]()

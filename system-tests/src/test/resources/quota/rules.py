"""What a quota promises, on two clients' mounts: rules.py RULE MOUNT_A MOUNT_B."""

import errno
import os
import sys
import threading
import time

A, B = sys.argv[2:4]
TREE = "quota/tree"
MIB = 1 << 20


def usage(path):
    """Of the quotas that count it, the innermost first."""
    lines = os.getxattr(path, "user.globalfs.quota").decode().splitlines()
    return [dict((k, int(v)) for k, v in (f.split("=") for f in line.split())) for line in lines]


def limit(path, **limits):
    os.setxattr(path, "user.globalfs.quota", " ".join(f"{k}={v}" for k, v in limits.items()).encode())


def refused(call, *arguments):
    try:
        call(*arguments)
    except OSError as e:
        assert e.errno == errno.EDQUOT, e
        return True
    return False


def write(path, size, sync=True):
    """The bytes count when this returns."""
    fd = os.open(path, os.O_WRONLY | os.O_CREAT, 0o644)
    try:
        view = memoryview(os.urandom(min(size, MIB)))
        done = 0
        while done < size:
            done += os.write(fd, view[: size - done])
        if sync:
            os.fsync(fd)
    finally:
        os.close(fd)


def both(work):
    failures = []

    def run(mount, name):
        try:
            work(mount, name)
        except BaseException as e:
            failures.append(e)

    threads = [threading.Thread(target=run, args=a) for a in ((A, "a"), (B, "b"))]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert not failures, failures


def allocated(tree):
    sizes = [os.lstat(tree).st_blocks * 512]
    for folder, folders, files in os.walk(tree):
        sizes += [os.lstat(os.path.join(folder, name)).st_blocks * 512 for name in folders + files]
    return len(sizes), sum(sizes)


def clear(tree):
    for name in os.listdir(tree):
        os.unlink(os.path.join(tree, name))


def inodes():
    made = []
    limit(f"{A}/{TREE}", inodes=41)

    def create(mount, name):
        for i in range(60):
            path = f"{mount}/{TREE}/{name}{i}"
            if refused(os.mkdir if i % 3 == 0 else os.mknod, path):
                return
            made.append(path)

    both(create)
    assert len(made) == 40, len(made)
    assert usage(f"{B}/{TREE}")[0]["used_inodes"] == 41
    assert refused(os.symlink, "x", f"{A}/{TREE}/s")
    assert refused(os.open, f"{B}/{TREE}", os.O_TMPFILE | os.O_RDWR)
    outside = f"{A}/quota/outside"
    write(outside, 1)
    assert refused(os.rename, outside, f"{A}/{TREE}/in")
    file = next(p for p in made if os.path.isfile(p))
    os.link(file, f"{A}/{TREE}/second")
    os.unlink(f"{A}/{TREE}/second")
    os.unlink(file)
    os.rename(outside, f"{A}/{TREE}/in")
    try:
        os.link(f"{A}/{TREE}/in", outside)
        raise AssertionError("linked between trees")
    except OSError as e:
        assert e.errno == errno.EXDEV, e
    assert os.statvfs(f"{A}/{TREE}").f_files == 41 and os.statvfs(f"{A}/{TREE}").f_ffree == 0
    for folder, folders, files in os.walk(f"{A}/{TREE}", topdown=False):
        [os.unlink(os.path.join(folder, f)) for f in files]
        [os.rmdir(os.path.join(folder, f)) for f in folders]
    assert usage(f"{A}/{TREE}")[0]["used_inodes"] == 1
    limit(f"{A}/{TREE}", inodes=0, bytes=8 * MIB)


def space():
    def fill(mount, name):
        for i in range(200):
            path = f"{mount}/{TREE}/{name}{i}"
            if refused(write, path, 100_000 + 7_000 * (i % 5)):
                return

    both(fill)
    count, found = allocated(f"{A}/{TREE}")
    used = usage(f"{B}/{TREE}")[0]
    assert (used["used_inodes"], used["used_bytes"]) == (count, found), (used, count, found)
    left = 8 * MIB - found
    assert 0 <= left < 200_000, left
    # the last byte that fits, fits
    last = os.open(f"{B}/{TREE}/last", os.O_RDWR | os.O_CREAT)
    assert refused(os.posix_fallocate, last, 0, left + 1)
    os.posix_fallocate(last, 0, left)
    assert usage(f"{A}/{TREE}")[0]["used_bytes"] == 8 * MIB
    assert os.statvfs(f"{A}/{TREE}").f_bavail == 0
    assert os.statvfs(f"{A}/{TREE}").f_blocks * os.statvfs(f"{A}/{TREE}").f_frsize == 8 * MIB
    # full: overwriting and shrinking go on, growing is refused at write, fsync or close
    os.pwrite(last, b"in place", 0)
    os.fsync(last)
    late = os.open(f"{B}/{TREE}/late", os.O_WRONLY | os.O_CREAT)
    os.write(late, b"x" * 5000)
    assert refused(os.fsync, late)
    os.write(late, b"x" * 5000)
    assert refused(os.close, late)
    assert refused(write, f"{A}/{TREE}/late", 3 * MIB, False)
    copied = os.open(f"{B}/{TREE}/late", os.O_WRONLY)
    assert refused(os.copy_file_range, last, copied, min(left, 65536), 0, 0)
    os.ftruncate(last, 0)
    # space came back: the same descriptor goes on
    os.write(copied, b"y" * 5000)
    os.fsync(copied)
    os.close(copied)
    os.close(last)
    assert os.stat(f"{A}/{TREE}/late").st_size == 5000
    clear(f"{A}/{TREE}")
    assert usage(f"{A}/{TREE}")[0]["used_bytes"] == 0
    write(f"{B}/{TREE}/whole", 7 * MIB)
    clear(f"{B}/{TREE}")


def everybody():
    """A tree of the global partition, used up from both regions."""
    os.setxattr(A, "user.globalfs.placement", b"inherit")
    os.mkdir(f"{A}/shared")
    os.setxattr(A, "user.globalfs.placement", b"creator")
    limit(f"{A}/shared", inodes=21, bytes=MIB)
    until = time.monotonic() + 30
    while not os.path.exists(f"{B}/shared"):
        assert time.monotonic() < until
        time.sleep(0.1)
    made = []

    def create(mount, name):
        for i in range(40):
            path = f"{mount}/shared/{name}{i}"
            if refused(os.mkdir if i % 4 == 0 else os.mknod, path):
                return
            made.append(path)

    both(create)
    assert len(made) == 20, len(made)
    for mount in (A, B):
        refused(os.mknod, f"{mount}/shared/one-more")
        assert usage(f"{mount}/shared")[0]["used_inodes"] == 21
        assert os.statvfs(f"{mount}/shared").f_files == 21 and os.statvfs(f"{mount}/shared").f_ffree == 0
    # out of the tree, into a region's, and back when there is room
    file = next(p for p in made if os.path.isfile(p))
    os.rename(file, f"{A}/quota/away") if file.startswith(A) else os.rename(file, f"{B}/quota/away")
    mount = file[: file.index("/shared")]
    os.mknod(f"{mount}/shared/instead")
    assert refused(os.rename, f"{mount}/quota/away", file)
    os.unlink(f"{mount}/shared/instead")
    os.rename(f"{mount}/quota/away", file)
    # what lives in a region's partition needs no room in this one's quota
    os.mknod(f"{A}/quota/region")
    os.rename(f"{A}/quota/region", f"{A}/shared/region")
    os.setxattr(f"{A}/shared", "user.globalfs.placement", b"creator")
    os.mkdir(f"{A}/shared/mine")
    write(f"{A}/shared/mine/f", 2 * MIB)
    assert usage(f"{A}/shared")[0]["used_inodes"] == 21
    left = os.open(file, os.O_RDWR)
    assert refused(os.posix_fallocate, left, 0, MIB + 1)
    os.posix_fallocate(left, 0, MIB)
    assert os.statvfs(f"{mount}/shared").f_bavail == 0
    os.close(left)
    for folder, folders, files in os.walk(f"{mount}/shared", topdown=False):
        [os.unlink(os.path.join(folder, f)) for f in files]
        [os.rmdir(os.path.join(folder, f)) for f in folders]
    last = usage(f"{mount}/shared")[0]
    assert (last["used_inodes"], last["used_bytes"]) == (1, 0), last


def countsRoot():
    """What the quota of the root counts, once that is known."""
    until = time.monotonic() + 60
    while usage(A)[-1]["counting"]:
        assert time.monotonic() < until, usage(A)
        time.sleep(0.2)
    print(usage(A)[-1]["used_inodes"], usage(A)[-1]["used_bytes"])


def fill():
    for i in range(600):
        folder = f"{A}/quota/old/e{i % 30}"
        if i < 30:
            os.mkdir(folder)
        os.mknod(f"{folder}/{i}")


def grow():
    """A tree without a quota, filled while it gets one; until the file `stop` is there."""
    i = 0
    while not os.path.exists(f"{A}/quota/stop"):
        folder = f"{B}/quota/old/d{i % 40}"
        os.makedirs(folder, exist_ok=True)
        write(f"{folder}/n{i}", 10 + i % 3000, i % 20 == 0)
        if i % 7 == 3 and (i - 1) % 11 != 4:
            os.unlink(f"{B}/quota/old/d{(i - 1) % 40}/n{i - 1}")
        if i % 11 == 4:
            os.rename(f"{folder}/n{i}", f"{B}/quota/old/d{(i - 3) % 40}/m{i}")
        i += 1
    print(i)


def counted():
    """The quota that was set meanwhile is counted in the end, and right."""
    until = time.monotonic() + 60
    while usage(f"{A}/quota/old")[0]["counting"]:
        assert time.monotonic() < until, usage(f"{A}/quota/old")
        time.sleep(0.2)
    used = usage(f"{A}/quota/old")[0]
    count, found = allocated(f"{A}/quota/old")
    assert (used["used_inodes"], used["used_bytes"]) == (count, found), (used, count, found)
    print(count)


def moved():
    """What a quota counts at its new home is all that is there, and it is used up from both regions."""
    until = time.monotonic() + 60
    for mount in (A, B):
        used, found = None, None
        while not used or used["counting"] or (used["used_inodes"], used["used_bytes"]) != found:
            assert time.monotonic() < until, (used, found)
            time.sleep(0.2)
            used, found = usage(f"{mount}/moving")[0], allocated(f"{mount}/moving")
        assert (used["inodes"], used["bytes"]) == (40, 4 * MIB), used
    count = found[0]
    made = []

    def create(mount, name):
        for i in range(60):
            path = f"{mount}/moving/src/{name}{i}"
            if refused(os.mknod, path):
                return
            made.append(path)

    both(create)
    assert len(made) == 40 - count, (len(made), count)
    for mount in (A, B):
        assert refused(os.mkdir, f"{mount}/moving/one-more")
        assert usage(f"{mount}/moving")[0]["used_inodes"] == 40
        assert refused(write, f"{mount}/moving/src/f1", 5 * MIB)
    for path in made:
        os.unlink(path)


rules = [inodes, space, everybody, countsRoot, fill, grow, counted, moved]
{rule.__name__: rule for rule in rules}[sys.argv[1]]()

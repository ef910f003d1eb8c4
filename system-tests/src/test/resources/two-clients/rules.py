"""What two clients of one cluster may rely on. usage: rules.py RULE MOUNT-A MOUNT-B

Both mounts show the folder `two` (of region A's partition) and the file `two-global` (of the global
partition). Every rule is a function; it fails by an exception.
"""
import errno, fcntl, hashlib, mmap, os, random, signal, sqlite3, struct, subprocess, sys, threading, time

A, B = sys.argv[2], sys.argv[3]
FLOCK = struct.Struct("hhqqi4x")
F_OFD_GETLK, F_OFD_SETLK, F_OFD_SETLKW = 36, 37, 38


def opened(mount, name, flags=os.O_RDWR | os.O_CREAT):
    return os.open(os.path.join(mount, name), flags, 0o644)


def asked(command, fd, kind, start, length):
    return FLOCK.unpack(fcntl.fcntl(fd, command, FLOCK.pack(kind, 0, start, length, 0)))


def refused(expected, action, *arguments):
    try:
        action(*arguments)
    except OSError as e:
        assert e.errno == expected, f"{errno.errorcode[e.errno]}, not {errno.errorcode[expected]}"
        return
    raise AssertionError(f"not refused: {action} {arguments}")


def soon(condition, seconds, what):
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, what
        time.sleep(0.01)


def in_thread(action, *arguments):
    """Runs it; result[0] is None while it runs, else (what it raised or None, when it ended)."""
    result = [None]

    def run():
        raised = None
        try:
            action(*arguments)
        except OSError as e:
            raised = e
        result[0] = (raised, time.monotonic())

    threading.Thread(target=run, daemon=True).start()
    return result


def exclusion():
    for name in ("two/exclusion", "two-global"):
        for first, second in ((A, B), (B, A)):
            x, y = opened(first, name), opened(second, name)
            fcntl.flock(x, fcntl.LOCK_EX)
            refused(errno.EAGAIN, fcntl.flock, y, fcntl.LOCK_EX | fcntl.LOCK_NB)
            refused(errno.EAGAIN, fcntl.flock, y, fcntl.LOCK_SH | fcntl.LOCK_NB)
            # flock and fcntl take no notice of each other
            fcntl.lockf(y, fcntl.LOCK_EX | fcntl.LOCK_NB)
            fcntl.lockf(y, fcntl.LOCK_UN)
            fcntl.flock(x, fcntl.LOCK_SH)
            fcntl.flock(y, fcntl.LOCK_SH | fcntl.LOCK_NB)
            refused(errno.EAGAIN, fcntl.flock, x, fcntl.LOCK_EX | fcntl.LOCK_NB)
            fcntl.flock(x, fcntl.LOCK_UN)
            fcntl.flock(y, fcntl.LOCK_EX | fcntl.LOCK_NB)
            fcntl.flock(y, fcntl.LOCK_UN)

            fcntl.lockf(x, fcntl.LOCK_EX | fcntl.LOCK_NB, 10, 100)
            refused(errno.EAGAIN, fcntl.lockf, y, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, 109)
            refused(errno.EAGAIN, fcntl.lockf, y, fcntl.LOCK_SH | fcntl.LOCK_NB)
            fcntl.lockf(y, fcntl.LOCK_EX | fcntl.LOCK_NB, 10, 110)
            fcntl.lockf(y, fcntl.LOCK_EX | fcntl.LOCK_NB, 100, 0)
            found = asked(fcntl.F_GETLK, x, fcntl.F_WRLCK, 0, 0)
            assert found == (fcntl.F_WRLCK, 0, 0, 100, 0), found
            fcntl.lockf(x, fcntl.LOCK_UN, 5, 103)
            found = asked(fcntl.F_GETLK, y, fcntl.F_RDLCK, 100, 10)
            assert found[0] == fcntl.F_WRLCK and found[2:4] == (100, 3), found
            fcntl.lockf(y, fcntl.LOCK_SH | fcntl.LOCK_NB, 5, 103)
            # any close of the file by its process ends its locks
            os.close(opened(first, name))
            fcntl.lockf(y, fcntl.LOCK_EX | fcntl.LOCK_NB)
            fcntl.lockf(y, fcntl.LOCK_UN)
            assert asked(fcntl.F_GETLK, x, fcntl.F_WRLCK, 0, 0)[0] == fcntl.F_UNLCK

            # locks of open files: two in one process exclude each other, a close ends its own
            z = opened(first, name)
            asked(F_OFD_SETLK, z, fcntl.F_WRLCK, 0, 10)
            refused(errno.EAGAIN, asked, F_OFD_SETLK, x, fcntl.F_RDLCK, 0, 1)
            refused(errno.EAGAIN, asked, F_OFD_SETLK, y, fcntl.F_RDLCK, 9, 1)
            os.close(opened(first, name))
            refused(errno.EAGAIN, asked, F_OFD_SETLK, y, fcntl.F_RDLCK, 9, 1)
            waiter = in_thread(asked, F_OFD_SETLKW, y, fcntl.F_RDLCK, 9, 1)
            os.close(z)
            soon(lambda: waiter[0], 10, "a closed file keeps its lock")
            assert waiter[0][0] is None, waiter

            # flock goes with the last descriptor, and the next in line may have it at once
            fcntl.flock(x, fcntl.LOCK_EX)
            again = os.dup(x)
            os.close(x)
            refused(errno.EAGAIN, fcntl.flock, y, fcntl.LOCK_EX | fcntl.LOCK_NB)
            other = opened(first, name)
            os.close(again)
            fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.close(other)
            waiter = in_thread(fcntl.flock, y, fcntl.LOCK_EX)
            soon(lambda: waiter[0], 10, "a closed file keeps its flock")
            os.close(y)


def waiting():
    for name, limit in (("two/waiting", 1.0), ("two-global", 3.0)):
        for lock in (fcntl.flock, fcntl.lockf):
            x, y = opened(A, name), opened(B, name)
            lock(x, fcntl.LOCK_EX)
            waiter = in_thread(lock, y, fcntl.LOCK_EX)
            time.sleep(0.5)
            assert waiter[0] is None, "two hold it"
            lock(x, fcntl.LOCK_UN)
            freed = time.monotonic()
            soon(lambda: waiter[0], 20, "the waiter is forgotten")
            assert waiter[0][0] is None, waiter
            assert waiter[0][1] - freed < limit, waiter[0][1] - freed
            print(f"{name} {lock.__name__}: granted {waiter[0][1] - freed:.4f} s after the release")
            os.close(x)
            os.close(y)


def deadlock():
    ours = [opened(A, "two/d1"), opened(A, "two/d2")]
    theirs = [opened(B, "two/d1"), opened(B, "two/d2")]
    fcntl.lockf(ours[0], fcntl.LOCK_EX)
    fcntl.lockf(theirs[1], fcntl.LOCK_EX)
    waiter = in_thread(fcntl.lockf, ours[1], fcntl.LOCK_EX)
    time.sleep(0.3)
    refused(errno.EDEADLK, fcntl.lockf, theirs[0], fcntl.LOCK_EX)
    assert waiter[0] is None
    fcntl.lockf(theirs[1], fcntl.LOCK_UN)
    soon(lambda: waiter[0], 10, "the other one waits on")
    assert waiter[0][0] is None, waiter


class Alarm(Exception):
    pass


def interruption():
    def ring(*_):
        raise Alarm()

    name = "two/interruption"
    x, y = opened(A, name), opened(B, name)
    fcntl.lockf(x, fcntl.LOCK_EX)
    signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, 0.4)
    began = time.monotonic()
    try:
        fcntl.lockf(y, fcntl.LOCK_EX)
        raise AssertionError("locked")
    except Alarm:
        pass
    assert time.monotonic() - began < 3, "a signal did not end the wait"
    # a killed one leaves nothing, too
    code = f"import fcntl; f = open({os.path.join(B, name)!r}, 'r+'); fcntl.lockf(f, fcntl.LOCK_EX)"
    child = subprocess.Popen([sys.executable, "-c", code])
    time.sleep(0.5)
    child.kill()
    began = time.monotonic()
    child.wait(10)
    assert time.monotonic() - began < 3, "a killed process hangs"
    fcntl.lockf(x, fcntl.LOCK_UN)
    time.sleep(0.2)
    fcntl.lockf(x, fcntl.LOCK_EX | fcntl.LOCK_NB)


def signals():
    """A signal ends a wait for others only: who need not wait locks and unlocks as if there were none."""
    signal.signal(signal.SIGALRM, lambda number, frame: None)
    signal.siginterrupt(signal.SIGALRM, False)
    for name in ("two/signals", "two-global"):
        x, y = opened(A, name), opened(B, name)
        signal.setitimer(signal.ITIMER_REAL, 0.0007, 0.0007)
        for lock in (fcntl.flock, fcntl.lockf) * 50:
            lock(x, fcntl.LOCK_EX)
            lock(x, fcntl.LOCK_UN)
        signal.setitimer(signal.ITIMER_REAL, 0)
        fcntl.flock(y, fcntl.LOCK_EX | fcntl.LOCK_NB)
        fcntl.lockf(y, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.close(x)
        os.close(y)


def resizing():
    """A file's size can be set while pages of it that are mapped wait to be written back."""
    for name in ("two/resized", "resized-global"):
        x = opened(A, name)
        os.ftruncate(x, 5000)
        with mmap.mmap(x, 5000) as mapped:
            for size in (100, 5000, 5000, 9000, 5000):
                mapped[0:3] = b"abc"
                started = time.monotonic()
                os.ftruncate(x, size)
                assert time.monotonic() - started < 30, (name, size)
            assert os.pread(x, 200, 0) == b"abc" + bytes(197)
        os.close(x)
    x, y = opened(A, "two/resized"), opened(B, "two/resized")
    ended = []

    def disturb():
        for i in range(200):
            os.pwrite(y, b"q", 5000 + i % 100)
            os.fsync(y)
            if ended:
                return

    other = in_thread(disturb)
    for i in range(5):
        started = time.monotonic()
        os.ftruncate(x, 5000)
        with mmap.mmap(x, 5000) as mapped:
            mapped[0:3] = b"abc"
            os.ftruncate(x, 100)
        assert time.monotonic() - started < 30, i
    ended.append(True)
    soon(lambda: other[0], 30, "the other client is stuck")
    assert other[0][0] is None, other[0]
    os.close(x)
    os.close(y)
    os.unlink(os.path.join(A, "resized-global"))


def mapped_beside():
    """A page is written back whole, and undoes nothing that another client wrote beside it."""
    x, y = opened(A, "two/beside"), opened(B, "two/beside")
    os.write(x, bytes(4096))
    os.fsync(x)
    with mmap.mmap(x, 4096) as mapped:
        for i in range(1, 4):
            mapped[0] = i
            os.pwrite(y, bytes([i]), 100)
            os.fsync(y)
            time.sleep(2.5)  # longer than anything written waits for its commit
            for fd in (x, y):
                page = os.pread(fd, 101, 0)
                assert (page[0], page[100]) == (i, i), (i, page[0], page[100])
    os.close(x)
    os.close(y)


def rename():
    x = opened(A, "two/old")
    os.write(x, b"one ")
    os.fsync(x)
    y = opened(B, "two/old", os.O_RDONLY)
    os.rename(os.path.join(B, "two/old"), os.path.join(B, "two/new"))
    os.write(x, b"two")
    os.close(x)
    assert not os.path.exists(os.path.join(A, "two/old"))
    for fd in (opened(A, "two/new"), opened(B, "two/new"), y):
        assert os.pread(fd, 100, 0) == b"one two", os.pread(fd, 100, 0)
        os.close(fd)


def appending():
    def records(mount, tag):
        fd = opened(mount, "two/log", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        chance = random.Random(tag)
        for i in range(250):
            os.write(fd, f"{tag} {i:05} {'.' * chance.randrange(200)}\n".encode())
        os.close(fd)

    writers = [os.fork() or (records(mount, tag), os._exit(0))
               for mount, tag in ((A, "a"), (B, "b"), (A, "c"))]
    for writer in writers:
        assert os.waitpid(writer, 0)[1] == 0
    contents = [open(os.path.join(mount, "two/log")).read() for mount in (A, B)]
    assert contents[0] == contents[1]
    nexts = {"a": 0, "b": 0, "c": 0}
    for line in contents[0].splitlines():
        tag, number, dots = line.split(" ")
        assert int(number) == nexts[tag] and set(dots) <= {"."}, line
        nexts[tag] += 1
    assert set(nexts.values()) == {250}, nexts


def appended_in_place():
    """A record that a reader saw stays where it was, whatever others append before it is committed."""
    def append(mount, name, record):
        fd = opened(mount, name, os.O_WRONLY | os.O_APPEND)
        os.write(fd, record)
        os.close(fd)

    for how in ("open", "fcntl"):
        name = f"two/in-place-{how}"
        writer = opened(A, name, os.O_WRONLY | os.O_CREAT | (os.O_APPEND if how == "open" else 0))
        if how == "fcntl":
            fcntl.fcntl(writer, fcntl.F_SETFL, os.O_APPEND)
        reader = opened(A, name, os.O_RDONLY)
        append(B, name, b"first\n")
        content = b"first\n"
        for i in range(30):
            assert os.pread(reader, 1 << 20, 0) == content, f"{how} {i}"
            os.write(writer, b"ours %d\n" % i)
            content += b"ours %d\n" % i
            if i % 3:
                assert os.pread(reader, 1 << 20, 0) == content, f"{how} {i}"
                append(B, name, b"theirs %d\n" % i)
                content += b"theirs %d\n" % i
        os.close(writer)
        assert os.pread(reader, 1 << 20, 0) == content, how
        os.close(reader)


def tailing():
    """Who has a file open for reading reads what another client's writer was acknowledged before."""
    record, records = b"0123456789\n", 700
    shared = mmap.mmap(-1, 8)
    opened(A, "two/tail")
    reader = opened(A, "two/tail", os.O_RDONLY)
    writer = os.fork()
    if not writer:
        fd = opened(B, "two/tail", os.O_WRONLY | os.O_APPEND)
        for i in range(records):
            os.write(fd, record)
            os.fsync(fd)
            shared[:] = struct.pack("q", (i + 1) * len(record))
        os._exit(0)
    until = time.monotonic() + 60
    acknowledged = 0
    while acknowledged < records * len(record):
        assert time.monotonic() < until, acknowledged
        acknowledged = struct.unpack("q", shared[:])[0]
        got = os.pread(reader, 1 << 20, 0)
        assert len(got) >= acknowledged, f"{len(got)} of {acknowledged}"
        assert got == record * (len(got) // len(record)), got
    assert os.waitpid(writer, 0)[1] == 0


def rewriting():
    chance = random.Random(int(os.environ.get("SEED", "1")))
    for i in range(60):
        writer, reader = ((A, B), (B, A))[i % 2]
        size = chance.choice((0, 1, 4095, 4096, 5000, 70_000, 300_000, chance.randrange(2 << 20)))
        content = chance.randbytes(size)
        with open(os.path.join(writer, "two/rewritten"), "wb") as f:
            f.write(content)
        path = os.path.join(reader, "two/rewritten")
        assert os.stat(path).st_size == size, f"round {i}: {os.stat(path).st_size} is not {size}"
        with open(path, "rb") as f:
            seen = f.read()
        assert hashlib.sha256(seen).digest() == hashlib.sha256(content).digest(), \
            f"round {i}: {len(seen)} bytes of {size} differ"


def along():
    """One appends, the other reads along through one descriptor."""
    records = 150

    def write():
        chance = random.Random(7)
        fd = opened(A, "two/along", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        for i in range(records):
            os.write(fd, f"{i:06} {'x' * chance.randrange(900)} end\n".encode())
            if chance.random() < 0.5:
                os.fsync(fd)
            time.sleep(chance.random() * 0.06)
        os.close(fd)

    os.close(opened(A, "two/along"))
    writer = os.fork() or (write(), os._exit(0))
    fd = opened(B, "two/along", os.O_RDONLY)
    rest, expected, idle = b"", 0, time.monotonic()
    while expected < records:
        got = os.read(fd, 1 << 16)
        if not got:
            assert time.monotonic() - idle < 20, f"nothing after record {expected}"
            time.sleep(0.003)
            continue
        idle = time.monotonic()
        assert b"\0" not in got, f"zeros after record {expected}"
        *lines, rest = (rest + got).split(b"\n")
        for line in lines:
            assert line.startswith(b"%06d " % expected) and line.endswith(b" end"), line
            expected += 1
    assert os.waitpid(writer, 0)[1] == 0 and rest == b""


def sqlite():
    """Both at once with a rollback journal; in WAL mode in turns. (The shared index of a WAL is
    memory, which two machines do not share: SQLite then wants exclusive locking, and two that open
    a database so at once stand in each other's way until one gives up, on a local disk as well.)"""
    for mode in ("delete", "wal"):
        name = f"two/{mode}.db"
        rounds = 25 if mode == "delete" else 6

        def insert(mount, tag):
            turn = opened(mount, f"two/{mode}.turn")
            for i in range(rounds):
                if mode == "wal":
                    fcntl.flock(turn, fcntl.LOCK_EX)
                db = sqlite3.connect(os.path.join(mount, name), timeout=60, isolation_level=None)
                if mode == "wal":
                    db.execute("pragma locking_mode=exclusive")
                for attempt in range(400):
                    try:
                        db.execute("begin immediate")
                        n = db.execute("select count(*) from t").fetchone()[0]
                        db.execute("insert into t values (?, ?, ?)", (n, tag, "x" * 500))
                        db.execute("commit")
                        break
                    except sqlite3.OperationalError as e:
                        if "locked" not in str(e):
                            raise
                        if db.in_transaction:
                            db.execute("rollback")
                        time.sleep(0.02)
                else:
                    raise AssertionError("locked for ever")
                db.close()
                fcntl.flock(turn, fcntl.LOCK_UN)

        db = sqlite3.connect(os.path.join(A, name))
        if mode == "wal":
            db.execute("pragma locking_mode=exclusive")
        assert db.execute(f"pragma journal_mode={mode}").fetchone()[0] == mode
        db.execute("create table t (n integer primary key, tag text, filler text)")
        db.close()
        writers = [os.fork() or (insert(mount, tag), os._exit(0))
                   for mount, tag in ((A, "a"), (B, "b"))]
        for writer in writers:
            assert os.waitpid(writer, 0)[1] == 0, f"a writer in mode {mode} failed"
        for mount in (A, B):
            db = sqlite3.connect(os.path.join(mount, name))
            if mode == "wal":
                db.execute("pragma locking_mode=exclusive")
            assert db.execute("pragma integrity_check").fetchone()[0] == "ok"
            rows = db.execute("select n, tag from t order by n").fetchall()
            assert [n for n, _ in rows] == list(range(2 * rounds)), rows
            db.close()


def hold():
    """Holds locks through B, with something written under them; then says what became of them."""
    held, free = opened(B, "two/held"), opened(B, "two/free")
    fcntl.lockf(held, fcntl.LOCK_EX)
    os.write(held, b"of the first")
    os.fsync(held)
    os.pwrite(held, b"TOO LATE", 0)
    print("holding", flush=True)
    sys.stdin.readline()
    refused(errno.EIO, os.pread, held, 10, 0)
    refused(errno.EIO, os.pwrite, held, b"x", 0)
    refused(errno.EIO, fcntl.lockf, held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    os.write(free, b"still usable")
    os.fsync(free)
    try:
        os.close(held)
    except OSError as e:
        assert e.errno == errno.EIO
    again = opened(B, "two/held")
    soon(lambda: os.pread(again, 100, 0) == b"of the second", 5, os.pread(again, 100, 0))
    fcntl.lockf(again, fcntl.LOCK_EX | fcntl.LOCK_NB)
    soon(lambda: os.pwrite(again, b"O", 0) == 1, 5, "no write")
    os.fsync(again)
    print("lost and found", flush=True)


def take():
    """Waits for the lock of somebody who is gone, and writes under it."""
    fd = opened(A, "two/held")
    fcntl.lockf(fd, fcntl.LOCK_EX)
    os.write(fd, b"of the second")
    os.ftruncate(fd, 13)
    os.fsync(fd)
    os.close(fd)


def unlinked():
    """A file that the other client unlinks stays whole for who has it open."""
    x = opened(A, "two/unlinked")
    os.write(x, b"still here" * 1000)
    os.fsync(x)
    os.unlink(os.path.join(B, "two/unlinked"))
    assert not os.path.exists(os.path.join(A, "two/unlinked"))
    print("open", flush=True)
    sys.stdin.readline()
    assert os.pread(x, 10, 9_990) == b"still here" and os.fstat(x).st_nlink == 0
    os.write(x, b"more")
    os.fsync(x)
    os.close(x)


globals()[sys.argv[1]]()
print("ok", sys.argv[1])

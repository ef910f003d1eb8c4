"""Pairs of operations that race where partitions meet, from two mounts at a time, and what must be left of them.
usage: races.py PAIRS SEED MOUNT MOUNT MOUNT

Each of several workers has a directory in every region and one in the global partition. A pair makes what it needs,
lets two mounts do one operation each at the same moment, and notes from the outcomes how many names every file and
directory must have. At the end every mount shows exactly these, with the right link counts and contents. Ends with 1
and says why if not.
"""
import collections, concurrent.futures, ctypes, errno, itertools, os, random, sys, threading, time

PAIRS, SEED = int(sys.argv[1]), int(sys.argv[2])
MOUNTS = sys.argv[3:]
WORKERS = 6
POOL = 8
LIBC = ctypes.CDLL(None, use_errno=True)
AT_FDCWD, RENAME_EXCHANGE = -100, 2

files = {}  # id: names it must have
dirs = {}
one_of = []  # groups of files of which exactly one is left
outcomes = collections.Counter()
wrong = []
lock = threading.Lock()


def exchange(a, b):
    if LIBC.renameat2(AT_FDCWD, os.fsencode(a), AT_FDCWD, os.fsencode(b), RENAME_EXCHANGE) != 0:
        raise OSError(ctypes.get_errno(), "renameat2")


def seen(path):
    """What another mount made is there at once in a region, and soon in the global partition."""
    until = time.monotonic() + 60
    while not os.path.lexists(path):
        if time.monotonic() > until:
            raise AssertionError(f"{path} does not appear")
        time.sleep(0.002)


class Worker:
    def __init__(self, number):
        self.number = number
        self.random = random.Random(SEED * 1000 + number)
        self.homes = [f"w{number}-{k}" for k in range(len(MOUNTS))] + [f"g{number}"]
        self.other = concurrent.futures.ThreadPoolExecutor(1)

    def run(self, numbers):
        kinds = [self.two_renames, self.rename_unlink, self.rename_link, self.link_unlink, self.two_onto_one,
                 self.crosswise, self.crosswise, self.rename_into_removed, self.rename_rmdir, self.two_dir_renames,
                 self.exchange_rename, self.create_in_moved, self.pool, self.pool]
        for number in numbers:
            kind = self.random.choice(kinds)
            self.a, self.b = self.random.sample(MOUNTS, 2)
            try:
                kind(f"{number}", *self.random.sample(self.homes, 3))
            except Exception as e:  # the pair counts as failed, the others go on
                self.fail(kind.__name__, number, repr(e))

    def fail(self, kind, number, what):
        with lock:
            wrong.append(f"{kind} {number} from {self.a} and {self.b}: {what}")

    def make(self, path, id=None):
        """A file (with an id) or a directory, seen by both mounts."""
        if id is None:
            os.mkdir(os.path.join(self.a, path))
        else:
            with open(os.path.join(self.a, path), "x") as f:
                f.write(id)
        seen(os.path.join(self.b, path))

    @staticmethod
    def outcome(barrier, action, arguments):
        barrier.wait()
        until = time.monotonic() + 60
        while True:
            try:
                action(*arguments)
                return 0
            except OSError as e:
                # Linux says so when it finds a directory moved by others while a rename is under way on its mount:
                # nothing was done then.
                if e.errno != errno.ESTALE or time.monotonic() > until:
                    return e.errno
                with lock:
                    outcomes["ESTALE, tried again"] += 1
                time.sleep(0.005)

    def race(self, kind, first, second):
        """(action, path…) of mount a and of mount b at once; their errnos."""
        barrier = threading.Barrier(2)
        at = lambda mount, op: (barrier, op[0], [os.path.join(mount, p) for p in op[1:]])
        later = self.other.submit(self.outcome, *at(self.b, second))
        result = self.outcome(*at(self.a, first)), later.result()
        with lock:
            outcomes[kind + " " + " ".join(errno.errorcode.get(e, "ok") for e in result)] += 1
        return result

    def must(self, kind, number, result, allowed):
        """allowed: pairs of sets of errnos."""
        if not any(result[0] in x and result[1] in y for x, y in allowed):
            self.fail(kind, number, [errno.errorcode.get(e, "ok") for e in result])

    ONE = [({0}, {errno.ENOENT}), ({errno.ENOENT}, {0})]

    def two_renames(self, n, x, y, z):
        self.make(f"{x}/f{n}", n)
        files[n] = 1
        r = self.race("two_renames", (os.rename, f"{x}/f{n}", f"{y}/f{n}"), (os.rename, f"{x}/f{n}", f"{z}/f{n}"))
        self.must("two_renames", n, r, self.ONE)

    def rename_unlink(self, n, x, y, z):
        self.make(f"{x}/f{n}", n)
        r = self.race("rename_unlink", (os.rename, f"{x}/f{n}", f"{y}/f{n}"), (os.unlink, f"{x}/f{n}"))
        files[n] = 1 if r[0] == 0 else 0
        self.must("rename_unlink", n, r, self.ONE)

    def rename_link(self, n, x, y, z):
        self.make(f"{x}/f{n}", n)
        r = self.race("rename_link", (os.rename, f"{x}/f{n}", f"{y}/f{n}"), (os.link, f"{x}/f{n}", f"{z}/f{n}.l"))
        files[n] = 2 if r[1] == 0 else 1
        self.must("rename_link", n, r, [({0}, {0, errno.ENOENT})])

    def link_unlink(self, n, x, y, z):
        self.make(f"{x}/f{n}", n)
        r = self.race("link_unlink", (os.link, f"{x}/f{n}", f"{y}/f{n}.l"), (os.unlink, f"{x}/f{n}"))
        files[n] = 1 if r[0] == 0 else 0
        self.must("link_unlink", n, r, [({0, errno.ENOENT}, {0})])

    def two_onto_one(self, n, x, y, z):
        self.make(f"{x}/f{n}", n)
        self.make(f"{z}/h{n}", n + "h")
        self.make(f"{y}/t{n}", n + "t")
        files[n + "t"] = 0
        one_of.append((n, n + "h"))
        r = self.race("two_onto_one", (os.rename, f"{x}/f{n}", f"{y}/t{n}"), (os.rename, f"{z}/h{n}", f"{y}/t{n}"))
        self.must("two_onto_one", n, r, [({0}, {0})])

    def full(self, path, n):
        self.make(path)
        self.make(f"{path}/f{n}", n)
        files[n] = 1
        dirs[os.path.basename(path)] = 1

    def crosswise(self, n, x, y, z):
        self.full(f"{x}/a{n}", n + "a")
        self.full(f"{y}/b{n}", n + "b")
        r = self.race("crosswise", (os.rename, f"{x}/a{n}", f"{y}/b{n}/a{n}"), (os.rename, f"{y}/b{n}", f"{x}/a{n}/b{n}"))
        lost = {errno.ENOENT, errno.EINVAL}
        self.must("crosswise", n, r, [({0}, lost), (lost, {0})])

    def rename_into_removed(self, n, x, y, z):
        self.make(f"{x}/f{n}", n)
        self.make(f"{y}/d{n}")
        files[n] = 1
        r = self.race("rename_into_removed", (os.rename, f"{x}/f{n}", f"{y}/d{n}/f{n}"), (os.rmdir, f"{y}/d{n}"))
        dirs[f"d{n}"] = 1 if r[0] == 0 else 0
        self.must("rename_into_removed", n, r, [({0}, {errno.ENOTEMPTY}), ({errno.ENOENT}, {0})])

    def rename_rmdir(self, n, x, y, z):
        self.make(f"{x}/d{n}")
        r = self.race("rename_rmdir", (os.rename, f"{x}/d{n}", f"{y}/d{n}"), (os.rmdir, f"{x}/d{n}"))
        dirs[f"d{n}"] = 1 if r[0] == 0 else 0
        self.must("rename_rmdir", n, r, self.ONE)

    def two_dir_renames(self, n, x, y, z):
        self.full(f"{x}/d{n}", n)
        r = self.race("two_dir_renames", (os.rename, f"{x}/d{n}", f"{y}/d{n}"), (os.rename, f"{x}/d{n}", f"{z}/d{n}"))
        self.must("two_dir_renames", n, r, self.ONE)

    def exchange_rename(self, n, x, y, z):
        self.full(f"{x}/a{n}", n + "a")
        self.full(f"{y}/b{n}", n + "b")
        del dirs[f"a{n}"], dirs[f"b{n}"]  # they get each other's names
        r = self.race("exchange_rename", (exchange, f"{x}/a{n}", f"{y}/b{n}"), (os.rename, f"{x}/a{n}", f"{z}/c{n}"))
        dirs[f"c{n}"] = 1
        self.must("exchange_rename", n, r, [({0, errno.ENOENT}, {0})])

    def create_in_moved(self, n, x, y, z):
        self.make(f"{x}/d{n}")
        dirs[f"d{n}"] = 1

        def create(path):
            with open(path, "x") as f:
                f.write(n)

        r = self.race("create_in_moved", (os.rename, f"{x}/d{n}", f"{y}/d{n}"), (create, f"{x}/d{n}/f{n}"))
        files[n] = 1 if r[1] == 0 else 0
        self.must("create_in_moved", n, r, [({0}, {0, errno.ENOENT})])

    def pool(self, n, x, y, z):
        """Directories of all partitions move below each other as it comes; none may get lost, or below itself."""
        found = [os.path.relpath(os.path.join(top, name), self.a)
                 for top, names, _ in os.walk(os.path.join(self.a, "pool")) for name in names]
        if len(found) < 2:
            return
        p, q = self.random.sample(found, 2)
        up = self.random.random() < 0.3
        first = (os.rename, p, "pool/" + os.path.basename(p) if up else f"{q}/{os.path.basename(p)}")
        r = self.race("pool", first, (os.rename, q, f"{p}/{os.path.basename(q)}"))
        any_of = {0, errno.ENOENT, errno.EINVAL, errno.ENOTEMPTY, errno.ELOOP}
        self.must("pool", n, r, [(any_of, any_of)])


def prepare(workers):
    west = MOUNTS[0]
    os.mkdir(os.path.join(west, "pool"))
    for k, mount in enumerate(MOUNTS):
        seen(os.path.join(mount, "pool"))
        for worker in workers:
            os.mkdir(os.path.join(mount, worker.homes[k]))
        for i in range(2):
            os.mkdir(os.path.join(mount, f"p{k}{i}"))
    os.setxattr(west, "user.globalfs.placement", b"inherit")
    for worker in workers:
        os.mkdir(os.path.join(west, worker.homes[-1]))
    for i in range(2):
        os.mkdir(os.path.join(west, f"p{len(MOUNTS)}{i}"))
    os.setxattr(west, "user.globalfs.placement", b"creator")
    for k in range(len(MOUNTS) + 1):
        for i in range(2):
            seen(os.path.join(west, f"p{k}{i}"))
            os.rename(os.path.join(west, f"p{k}{i}"), os.path.join(west, "pool", f"p{k}{i}"))
            dirs[f"p{k}{i}"] = 1
    for mount in MOUNTS:
        for name in itertools.chain.from_iterable(worker.homes for worker in workers):
            seen(os.path.join(mount, name))


def look(mount):
    """What is wrong with the tree as this mount shows it."""
    found_files, found_dirs = collections.Counter(), collections.Counter()
    links, names, bad = {}, collections.Counter(), []
    parents = {}

    def refuse(e):
        bad.append(f"{mount}: {e}")

    for top, below, inside in os.walk(mount, onerror=refuse):
        s = os.lstat(top)
        if s.st_nlink != 2 + len(below):
            bad.append(f"{top} has {len(below)} directories and {s.st_nlink} links")
        if s.st_ino in parents:
            bad.append(f"directory {s.st_ino:x} is {parents[s.st_ino]} and {top}")
        parents[s.st_ino] = top
        for name in below:
            found_dirs[name] += 1
        for name in inside:
            path = os.path.join(top, name)
            with open(path) as f:
                found_files[f.read()] += 1
            s = os.lstat(path)
            names[s.st_ino] += 1
            links[s.st_ino] = s.st_nlink
    for ino, count in names.items():
        if links[ino] != count:
            bad.append(f"{mount}: inode {ino:x} has {count} names and {links[ino]} links")
    for id, count in files.items():
        if found_files[id] != count:
            bad.append(f"{mount}: file {id} has {found_files[id]} names, not {count}")
    for group in one_of:
        if sum(found_files[id] for id in group) != 1:
            bad.append(f"{mount}: of the files {group} not one is left")
    for name, count in dirs.items():
        if found_dirs[name] != count:
            bad.append(f"{mount}: directory {name} is there {found_dirs[name]} times, not {count}")
    return bad


def main():
    workers = [Worker(n) for n in range(WORKERS)]
    prepare(workers)
    print("prepared", flush=True)
    began = time.monotonic()
    threads = [threading.Thread(target=w.run, args=(range(w.number, PAIRS, WORKERS),)) for w in workers]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    seconds = time.monotonic() - began
    for worker in workers:
        worker.other.shutdown()
    print("raced", flush=True)
    for key, count in sorted(outcomes.items()):
        print(f"{count:6} {key}")
    for mount in MOUNTS:
        until = time.monotonic() + 30
        bad = look(mount)
        while bad and time.monotonic() < until:
            time.sleep(1)
            bad = look(mount)
        wrong.extend(bad)
    print(f"{PAIRS} pairs in {seconds:.0f} s, {sum(files.values()) + len(one_of)} names of files, {len(wrong)} wrong")
    for line in wrong[:50]:
        print(line)
    sys.exit(1 if wrong else 0)


main()

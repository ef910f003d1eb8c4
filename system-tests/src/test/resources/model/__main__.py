"""Random operations on a GlobalFS mount and on a local folder side by side: result and errno must be the same.

usage: python3 -B model go LOCAL SEED COUNT MOUNT
       python3 -B model compare LOCAL MOUNT...

`go` does COUNT operations from SEED as root and as ordinary users, each on LOCAL, which should be ext4, and through
MOUNT, compares after each and at the end the trees; `compare` compares the tree of LOCAL with that which every MOUNT
shows. Ends with 1 at the first difference, which it prints with the operations that led there. What may differ, and
why, is in comparison.py.
"""
import collections
import errno
import os
import subprocess
import sys

import operations
from calls import acting
from chance import Chance, Path, Slot
from comparison import Watch, compare, equal, short
from held import Held


class Side:
    """One of the two trees. Operations go by paths from its root, so that nobody needs a right to reach that."""

    def __init__(self, root):
        self.root = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
        self.held = Held()

    def do(self, what, who, watches, arguments):
        os.fchdir(self.root)
        slots = [each for each in arguments if isinstance(each, Slot)]
        fd = self.held.fds.get(slots[0]) if slots else None
        watch = Watch([each for each in arguments if isinstance(each, Path)], fd) if watches else None
        try:
            with acting(*who):
                outcome = "ok", self.call(what, fd, arguments)
        except OSError as e:
            outcome = "failed", errno.errorcode.get(e.errno, e.errno)
        return outcome, watch and watch.changes()

    def call(self, what, fd, arguments):
        if hasattr(operations, what):
            return getattr(operations, what)(*arguments)
        if what in ("hold", "hold_unnamed", "name_held", "let_go"):
            return getattr(self.held, what)(*arguments)
        return None if fd is None else getattr(self.held, what)(fd, *arguments[1:])


def go(local, seed, count, mount):
    kind = subprocess.run(["stat", "-f", "-c", "%T", local], capture_output=True, text=True, check=True).stdout.strip()
    if kind != "ext2/ext3":
        print(f"the local side is {kind}, not ext4: that it differs may be its own affair")
    chance, here, there = Chance(seed, local), Side(local), Side(mount)
    done, outcomes = collections.deque(maxlen=40), collections.Counter()
    for i in range(count):
        what, who, watches, arguments = chance.operation()
        for slot in [each for each in list(here.held.fds) if here.held.is_old(each)]:
            here.held.let_go(slot)
            there.held.let_go(slot)
        done.append((i, what, who, watches, [short(each) for each in arguments]))
        got, expected = there.do(what, who, watches, arguments), here.do(what, who, watches, arguments)
        if not equal(what, expected, got):
            for line in done:
                print(*line)
            sys.exit(f"seed {seed}, operation {i}: {what}\n  local  {short(expected)}\n  mount  {short(got)}")
        outcomes[expected[0][0] if expected[0][0] == "ok" else expected[0][1]] += 1
    for side in (here, there):
        for slot in list(side.held.fds):
            side.held.let_go(slot)
    print(f"seed {seed}: {dict(outcomes)}")


def main():
    verb, local = sys.argv[1], sys.argv[2]
    os.umask(0o022)
    if verb == "go":
        seed, count, mount = int(sys.argv[3]), int(sys.argv[4]), sys.argv[5]
        go(local, seed, count, mount)
        compare(local, [mount])
    else:
        compare(local, sys.argv[3:])


main()

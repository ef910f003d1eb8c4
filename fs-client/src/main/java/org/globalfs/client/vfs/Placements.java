package org.globalfs.client.vfs;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongConsumer;
import org.globalfs.protocol.Errno;
import org.globalfs.protocol.wire.DirectoryEntry;
import org.globalfs.protocol.wire.GetAttributesOp;
import org.globalfs.protocol.wire.MoveOp;
import org.globalfs.protocol.wire.ReadDirectoryOp;
import org.globalfs.protocol.wire.ReadOp;
import org.globalfs.protocol.wire.ReadReply;
import org.globalfs.protocol.wire.UpdateOp;
import org.globalfs.protocol.wire.UpdateReply;

/**
 * Which regions the inodes of a tree live in, and their moves to another one. A move is many
 * commands, each of which takes some inodes along at once, whole; between them the tree is in use
 * as ever. So one that was cut short has done a part, and doing it again does the rest.
 */
final class Placements {

    private static final int PAGE_ENTRIES = 1000;
    private static final int INODES_A_COMMAND = 4096;
    private static final int ROUNDS = 4;
    private static final long PAUSE_NS = TimeUnit.SECONDS.toNanos(1);

    private final Requests requests;

    Placements(Requests requests) {
        this.requests = requests;
    }

    /** Inodes of the tree by the partition that they live in. */
    Map<Integer, Long> count(Caller caller, long ino) throws FsException {
        Map<Integer, Long> counts = new TreeMap<>();
        Set<Long> seen = new HashSet<>();
        Deque<Long> directories = new ArrayDeque<>();
        ReadOp op = ReadOp.getAttributes(new GetAttributesOp(ino));
        Requests.Read root = requests.read(caller, requests.home(ino), op);
        counts.merge(root.partition(), 1L, Long::sum);
        seen.add(ino);
        if (Permissions.isDirectory(root.reply().getAttributes())) {
            directories.add(ino);
        }
        while (!directories.isEmpty()) {
            list(
                    caller,
                    directories.poll(),
                    (entry, home) -> {
                        if (seen.add(entry.getIno())) {
                            counts.merge(home, 1L, Long::sum);
                            if (entry.getType() == Stat.DIRECTORY) {
                                directories.add(entry.getIno());
                            }
                        }
                    });
        }
        return counts;
    }

    private interface Visitor {
        void visit(DirectoryEntry entry, int home) throws FsException;
    }

    private void list(Caller caller, long directory, Visitor visitor) throws FsException {
        long cookie = 0;
        boolean last = false;
        while (!last) {
            ReadDirectoryOp op =
                    new ReadDirectoryOp(directory, cookie, PAGE_ENTRIES).setAttributes(true);
            Requests.Read read =
                    requests.read(caller, requests.home(directory), ReadOp.readDirectory(op));
            ReadReply page = read.reply();
            for (DirectoryEntry entry : page.getEntries()) {
                cookie = entry.getCookie();
                int home =
                        entry.isSetAttributes()
                                ? read.partition()
                                : elsewhere(caller, entry.getIno());
                visitor.visit(entry, home);
            }
            last = page.isLast() || page.getEntries().isEmpty();
        }
    }

    private int elsewhere(Caller caller, long ino) {
        ReadOp op = ReadOp.getAttributes(new GetAttributesOp(ino));
        return requests.tryRead(caller, requests.home(ino), op).partition();
    }

    /**
     * Moves the tree; inodes of partition 0 stay where they are. Root only.
     *
     * @param moved told how many more were moved
     * @return how many could not be moved: they are locked, in a quota or too large
     */
    long move(Caller caller, long ino, int to, LongConsumer moved) throws FsException {
        Set<Long> stayed = Set.of();
        for (int round = 0; round < ROUNDS; round++) {
            if (round > 0) {
                // Locks are let go, and content follows what was moved before.
                LockSupport.parkNanos(PAUSE_NS);
            }
            stayed = pass(caller, ino, to, moved);
            if (stayed.isEmpty()) {
                break;
            }
        }
        return stayed.size();
    }

    /** Moves what it meets on its way through the tree; most of it goes along with the root. */
    private Set<Long> pass(Caller caller, long root, int to, LongConsumer moved)
            throws FsException {
        Set<Long> stayed = new HashSet<>();
        Set<Long> seen = new HashSet<>(Set.of(root));
        move(caller, List.of(root), to, moved, stayed);
        Deque<Long> directories = new ArrayDeque<>();
        ReadOp op = ReadOp.getAttributes(new GetAttributesOp(root));
        if (Permissions.isDirectory(
                requests.read(caller, requests.home(root), op).reply().getAttributes())) {
            directories.add(root);
        }
        while (!directories.isEmpty()) {
            List<Long> astray = new ArrayList<>();
            list(
                    caller,
                    directories.poll(),
                    (entry, home) -> {
                        if (home != to && home != 0 && !stayed.contains(entry.getIno())) {
                            astray.add(entry.getIno());
                        }
                        if (entry.getType() == Stat.DIRECTORY && seen.add(entry.getIno())) {
                            directories.add(entry.getIno());
                        }
                    });
            move(caller, astray, to, moved, stayed);
        }
        return stayed;
    }

    private void move(
            Caller caller, List<Long> inodes, int to, LongConsumer moved, Set<Long> stayed)
            throws FsException {
        Deque<Long> left = new ArrayDeque<>(inodes);
        while (!left.isEmpty()) {
            if (caller.cancelled()) {
                throw FsException.of(Errno.EINTR);
            }
            List<Long> some = new ArrayList<>();
            while (some.size() < INODES_A_COMMAND && !left.isEmpty()) {
                some.add(left.poll());
            }
            UpdateOp op = UpdateOp.move(new MoveOp(some, to));
            UpdateReply reply = requests.update(caller, 0, op).reply();
            moved.accept(reply.getDone());
            stayed.addAll(reply.getStayed());
            List<Long> rest = reply.getRest();
            rest.removeAll(stayed);
            for (int i = rest.size() - 1; i >= 0; i--) {
                left.addFirst(rest.get(i));
            }
        }
    }
}

package org.globalfs.protocol.placement;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.globalfs.protocol.Errno;
import org.globalfs.protocol.placement.TreeMove.Answer;
import org.globalfs.protocol.placement.TreeMove.Scope;
import org.globalfs.protocol.wire.Attributes;
import org.globalfs.protocol.wire.DirectoryEntry;
import org.globalfs.protocol.wire.MoveOp;
import org.globalfs.protocol.wire.ReadDirectoryOp;
import org.globalfs.protocol.wire.ReadOp;
import org.globalfs.protocol.wire.ReadReply;
import org.globalfs.protocol.wire.Status;
import org.globalfs.protocol.wire.UpdateReply;
import org.junit.jupiter.api.Test;

/** How a tree is walked that moves: by few commands and questions, and no further than asked. */
final class TreeMoveTest {

    private static final int FILE = 0100000;
    private static final int DIRECTORY = 0040000;
    private static final long TOP = 2;

    private final Partitions partitions = new Partitions();

    /** Partitions whose commands take along what is named, and nothing below it. */
    private static final class Partitions implements TreeMove.Access<RuntimeException> {
        final Map<Long, List<Long>> names = new HashMap<>();
        final Map<Long, Integer> homes = new HashMap<>();
        final Set<Long> locked = new HashSet<>();
        final Set<Long> withPolicy = new HashSet<>();

        /** Removed after the directory that they are in was read. */
        final Set<Long> gone = new HashSet<>();

        /** By inode: so many commands copy a part of it ahead. */
        final Map<Long, Integer> parts = new HashMap<>();

        int commands;
        int questions;
        private long next = TOP;

        long made(long parent, int home, boolean directory) {
            long ino = next++;
            homes.put(ino, home);
            if (directory) {
                names.put(ino, new ArrayList<>());
            }
            if (parent != 0) {
                Objects.requireNonNull(names.get(parent)).add(ino);
            }
            return ino;
        }

        int home(long ino) {
            return Objects.requireNonNull(homes.get(ino));
        }

        private Attributes attributesOf(long ino) {
            Attributes attributes = new Attributes();
            attributes.setIno(ino);
            attributes.setMode(names.containsKey(ino) ? DIRECTORY : FILE);
            attributes.setAllocated(1);
            attributes.setNlink(
                    (int) names.values().stream().filter(in -> in.contains(ino)).count());
            attributes.setExtended((byte) (withPolicy.contains(ino) ? 8 : 0));
            return attributes;
        }

        @Override
        public Answer read(long ino, ReadOp op) {
            if (gone.contains(ino)) {
                throw new IllegalStateException("ESTALE");
            }
            ReadReply reply = new ReadReply().setStatus(Status.DONE);
            reply.setAttributes(attributesOf(ino));
            if (op.isSetReadDirectory()) {
                list(ino, op.getReadDirectory(), reply);
            }
            return new Answer(home(ino), reply);
        }

        private void list(long ino, ReadDirectoryOp op, ReadReply reply) {
            List<Long> all = Objects.requireNonNull(names.get(ino));
            int from = (int) op.getCookie();
            int to = Math.min(all.size(), from + op.getLimit());
            List<DirectoryEntry> entries = new ArrayList<>();
            for (int i = from; i < to; i++) {
                long child = all.get(i);
                DirectoryEntry entry = new DirectoryEntry();
                entry.setIno(child).setType(names.containsKey(child) ? DIRECTORY : FILE);
                entry.setName(Long.toString(child).getBytes(UTF_8)).setCookie(i + 1);
                if (home(child) == home(ino)) {
                    entry.setAttributes(attributesOf(child));
                }
                entries.add(entry);
            }
            reply.setEntries(entries).setLast(to == all.size());
        }

        @Override
        public Answer ask(long ino, ReadOp op) {
            questions += op.isSetGetAttributes() ? 1 : 0;
            return gone.contains(ino)
                    ? new Answer(home(ino), new ReadReply().setErrno(Errno.ESTALE.number()))
                    : read(ino, op);
        }

        @Override
        public UpdateReply move(MoveOp op) {
            commands++;
            long done = 0;
            List<Long> stayed = new ArrayList<>();
            List<Long> rest = new ArrayList<>();
            for (long ino : op.getInodes()) {
                int home = home(ino);
                boolean apart = op.isSetTree() && ino != op.getTree() && withPolicy.contains(ino);
                if (home == op.getTo() || op.isSetSource() && home != op.getSource() || apart) {
                    continue;
                }
                if (locked.contains(ino)) {
                    stayed.add(ino);
                } else if (parts.merge(ino, -1, Integer::sum) >= 0) {
                    rest.add(ino);
                } else {
                    homes.put(ino, op.getTo());
                    done++;
                }
            }
            return new UpdateReply().setDone(done).setRest(rest).setStayed(stayed);
        }
    }

    private Set<Long> pass(Scope scope) {
        TreeMove.Stayed stayed = new TreeMove<>(partitions, 2, more -> {}, scope).pass(TOP);
        assertThat(stayed.some()).hasSize((int) stayed.count());
        return stayed.some();
    }

    private List<Integer> homes(List<Long> inodes) {
        return inodes.stream().map(partitions::home).distinct().toList();
    }

    @Test
    void whatSomebodyRemovesMeanwhileDoesNotEndTheMove() {
        partitions.made(0, 1, true);
        partitions.gone.add(partitions.made(TOP, 1, true));
        long last = partitions.made(partitions.made(TOP, 1, true), 1, false);
        assertThat(pass(Scope.ALL)).isEmpty();
        assertThat(partitions.home(last)).isEqualTo(2);
    }

    /** As after it was copied ahead, and only then moved itself. */
    @Test
    void whatALargeDirectoryNamesIsNotAskedForOneByOne() {
        partitions.made(0, 1, true);
        List<Long> files = new ArrayList<>();
        for (int i = 0; i < 5000; i++) {
            files.add(partitions.made(TOP, 1, false));
        }
        assertThat(pass(Scope.ALL)).isEmpty();
        assertThat(homes(files)).containsExactly(2);
        assertThat(partitions.questions).isZero();
        assertThat(partitions.commands).isLessThanOrEqualTo(1 + 5);
        assertThat(pass(Scope.ALL)).isEmpty();
        assertThat(partitions.commands).as("nothing to do").isLessThanOrEqualTo(1 + 5 + 1);
    }

    @Test
    void whatStaysIsToldOnce() {
        partitions.made(0, 1, true);
        long file = partitions.made(TOP, 1, false);
        long below = partitions.made(TOP, 1, true);
        long deep = partitions.made(below, 1, false);
        partitions.locked.add(file);
        partitions.locked.add(below);
        assertThat(pass(Scope.ALL)).containsExactlyInAnyOrder(file, below);
        assertThat(partitions.home(deep)).as("below one that stays").isEqualTo(2);
    }

    /** Copied ahead in parts, it moves with the last of them. */
    @Test
    void aLargeDirectoryAboveAnExceptionMovesBeforeWhatItNames() {
        partitions.made(0, 1, true);
        long apart = partitions.made(TOP, 1, true);
        long file = partitions.made(TOP, 1, false);
        partitions.parts.put(TOP, 2);
        assertThat(pass(new Scope(1, Set.of(apart), Set.of(TOP), true))).isEmpty();
        assertThat(homes(List.of(TOP, file))).containsExactly(2);
        assertThat(partitions.home(apart)).isEqualTo(1);
        assertThat(partitions.commands).isEqualTo(3 + 1);
    }

    /** An oracle tries again every minute. */
    @Test
    void aTreeThatAQuotaKeepsIsNotWalked() {
        partitions.made(0, 1, true);
        for (int i = 0; i < 5000; i++) {
            partitions.locked.add(partitions.made(TOP, 1, false));
        }
        partitions.locked.add(TOP);
        assertThat(pass(new Scope(1, Set.of(), Set.of(), true))).containsExactly(TOP);
        assertThat(partitions.commands).isEqualTo(1);
    }

    @Test
    void ofWhatStaysOnlySomeIsKept() {
        partitions.made(0, 1, true);
        for (int i = 0; i < 5000; i++) {
            partitions.locked.add(partitions.made(TOP, 1, false));
        }
        TreeMove<RuntimeException> move = new TreeMove<>(partitions, 2, more -> {}, Scope.ALL);
        TreeMove.Stayed stayed = move.pass(TOP);
        assertThat(stayed.count()).isEqualTo(5000);
        assertThat(stayed.some()).hasSize(1000);
        assertThat(move.remembered()).isLessThanOrEqualTo(1 + 3 * 1000);
        assertThat(move.files(TOP).count()).isEqualTo(5000);
        assertThat(move.remembered()).isLessThanOrEqualTo(1 + 3 * 1000);
    }

    @Test
    void onlyWhatIsInScopeMoves() {
        partitions.made(0, 1, true);
        long apart = partitions.made(TOP, 1, true);
        long belowApart = partitions.made(apart, 1, false);
        long own = partitions.made(TOP, 1, true);
        long belowOwn = partitions.made(own, 1, false);
        partitions.withPolicy.add(own);
        long third = partitions.made(TOP, 3, true);
        long belowThird = partitions.made(third, 1, false);
        long file = partitions.made(TOP, 3, false);
        long goes = partitions.made(TOP, 1, false);
        assertThat(pass(new Scope(1, Set.of(apart), Set.of(), true))).isEmpty();
        assertThat(homes(List.of(TOP, goes))).containsExactly(2);
        assertThat(homes(List.of(apart, belowApart, own, belowOwn, belowThird))).containsExactly(1);
        assertThat(homes(List.of(third, file))).containsExactly(3);
    }

    /** A tree may have many millions of files. */
    @Test
    void onlyWhatMayBeMetAgainIsRemembered() {
        long top = partitions.made(0, 1, true);
        long below = partitions.made(top, 1, true);
        for (int i = 0; i < 100; i++) {
            partitions.made(i % 2 == 0 ? top : below, 1, false);
        }
        long linked = partitions.made(top, 1, false);
        Objects.requireNonNull(partitions.names.get(below)).add(linked);
        long[] bytes = {0};
        TreeMove.Progress progress =
                new TreeMove.Progress() {
                    @Override
                    public void moved(long inodes) {}

                    @Override
                    public void content(long more) {
                        bytes[0] += more;
                    }
                };
        TreeMove<RuntimeException> move = new TreeMove<>(partitions, 2, progress, Scope.ALL);
        assertThat(move.pass(top).count()).isZero();
        assertThat(bytes[0]).as("of each file once").isEqualTo(101);
        assertThat(move.remembered()).isEqualTo(3);
    }

    @Test
    void aCountRemembersNoMoreThanThat() {
        long top = partitions.made(0, 1, true);
        long below = partitions.made(top, 2, true);
        for (int i = 0; i < 100; i++) {
            partitions.made(i % 2 == 0 ? top : below, 1, false);
        }
        long linked = partitions.made(top, 1, false);
        Objects.requireNonNull(partitions.names.get(below)).add(linked);
        TreeCount<RuntimeException> count = new TreeCount<>(partitions);
        assertThat(count.of(top)).isEqualTo(Map.of(1, 102L, 2, 1L));
        assertThat(count.remembered()).isEqualTo(3);
    }
}

package org.globalfs.replica.state;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.globalfs.protocol.Errno;
import org.globalfs.protocol.wire.CollectOrphansOp;
import org.globalfs.protocol.wire.Command;
import org.globalfs.protocol.wire.CreateOp;
import org.globalfs.protocol.wire.DecideOp;
import org.globalfs.protocol.wire.DirectoryEntry;
import org.globalfs.protocol.wire.LinkOp;
import org.globalfs.protocol.wire.MoveOp;
import org.globalfs.protocol.wire.ReadDirectoryOp;
import org.globalfs.protocol.wire.ReadOp;
import org.globalfs.protocol.wire.RenameOp;
import org.globalfs.protocol.wire.UnlinkOp;
import org.globalfs.protocol.wire.UpdateOp;
import org.globalfs.protocol.wire.UpdateReply;
import org.globalfs.replica.state.model.Mode;
import org.globalfs.replica.state.model.Partitions;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Pairs of operations that get in each other's way where partitions meet: crosswise renames of
 * directories into each other, a rename of what is being removed, two renames of one thing. Their
 * steps come in any order, late, twice, with crashes between. At every pause the tree is whole.
 */
final class FringeRacesTest {

    private static final int REGIONS = 3;
    private static final int PAIRS = Integer.getInteger("globalfs.fringe.states", 600);
    private static final int AT_ONCE = 6;
    private static final int FEW = 30;
    private static final int PAIRS_BETWEEN_CHECKS = 40;

    @TempDir Path folder;

    private final Random random = new Random();
    private final List<Entry> entries = new ArrayList<>();
    private final List<Entry> directories = new ArrayList<>();
    private Rings rings;
    private Flights flights;
    private long sessions;
    private long moved;
    private long cycles;
    private long globalBelow;
    private long relocated;

    /** A name as it was at the last pause. */
    private record Entry(long parent, byte[] name, long ino, boolean directory) {}

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void theTreeStaysWhole(long seed) {
        System.out.println("fringe races: " + PAIRS + " pairs, seed " + seed);
        random.setSeed(seed);
        try (Rings made = new Rings(folder, REGIONS)) {
            rings = made;
            flights = new Flights(rings, this::landed);
            plant();
            survey();
            for (int pair = 1; pair <= PAIRS; pair++) {
                race();
                weather();
                if (pair % PAIRS_BETWEEN_CHECKS == 0 || pair == PAIRS) {
                    flights.land();
                    Consistency.check(rings, REGIONS);
                    survey();
                    if (random.nextBoolean()) {
                        gather();
                    }
                }
            }
        }
        System.out.printf(
                "%d operations, %d succeeded, %d times locked, %d escalated; %d directories renamed"
                        + " over partitions, %d inodes moved, %d cycles refused, %d pauses with global directories in"
                        + " regions%n",
                flights.finished,
                flights.succeeded,
                flights.locked,
                flights.escalated,
                moved,
                relocated,
                cycles,
                globalBelow);
        assertThat(moved).isGreaterThan(PAIRS / 20);
        assertThat(cycles).isPositive();
        assertThat(relocated).isGreaterThan(PAIRS / 4);
        assertThat(globalBelow).isPositive();
    }

    private void plant() {
        for (int origin = 0; origin <= REGIONS; origin++) {
            for (int i = 0; i < 3; i++) {
                make(Partitions.ROOT, "d" + origin + i, origin);
            }
        }
    }

    private void make(long parent, String name, int origin) {
        CreateOp op = new CreateOp(parent, bytes(name), Mode.DIRECTORY | 0777);
        rings.run(0, rings.command(1000, 0, origin, UpdateOp.create(op)));
    }

    private static ByteBuffer bytes(String name) {
        return ByteBuffer.wrap(name.getBytes(UTF_8));
    }

    /** Notes what is where; only while nothing is under way. */
    private void survey() {
        entries.clear();
        directories.clear();
        directories.add(new Entry(Partitions.ROOT, new byte[0], Partitions.ROOT, true));
        for (int next = 0; next < directories.size(); next++) {
            long parent = directories.get(next).ino();
            ReadOp op = ReadOp.readDirectory(new ReadDirectoryOp(parent, 0, 4000));
            for (DirectoryEntry each : rings.readAt(parent, 0, op).getEntries()) {
                boolean directory = each.getType() == Mode.DIRECTORY;
                Entry entry = new Entry(parent, each.getName(), each.getIno(), directory);
                entries.add(entry);
                if (directory) {
                    directories.add(entry);
                }
            }
        }
        globalBelow += globalBelow() > 0 ? 1 : 0;
    }

    /** Lets all directories that were born in partition 0 live there, with all above. */
    private void gather() {
        Set<Long> global = new HashSet<>();
        for (Entry each : directories.reversed()) {
            if (Partitions.ofBirth(each.ino()) == 0 || global.contains(each.ino())) {
                global.add(each.ino());
                global.add(each.parent());
            }
        }
        for (Entry each : directories) {
            int to = global.contains(each.ino()) ? 0 : Partitions.ofBirth(each.ino());
            MoveOp op = new MoveOp(List.of(each.ino()), to).setLimit(1);
            rings.run(0, rings.command(1000, 0, 1, UpdateOp.move(op)));
        }
        // Those that were removed meanwhile count until they are collected.
        rings.passMs(120_000);
        for (int partition = 0; partition <= REGIONS; partition++) {
            rings.internal(partition, UpdateOp.collectOrphans(new CollectOrphansOp(4000)));
        }
        rings.settle();
        assertThat(globalBelow()).isZero();
    }

    private long globalBelow() {
        return rings.state(0).check().report().globalBelow;
    }

    private <T> T any(List<T> list) {
        return list.get(random.nextInt(list.size()));
    }

    private Entry anyNamedDirectory() {
        return directories.size() == 1
                ? entries.getFirst()
                : directories.get(1 + random.nextInt(directories.size() - 1));
    }

    private ByteBuffer anyName() {
        return bytes("n" + random.nextInt(4));
    }

    private void race() {
        if (entries.size() < FEW || random.nextInt(8) == 0) {
            grow();
        }
        Entry x = any(entries);
        Entry y = anyNamedDirectory();
        Entry z = any(directories);
        if (random.nextInt(2) == 0) {
            start(relocate(random.nextBoolean() ? x : any(entries)));
            start(relocate(y));
        }
        switch (random.nextInt(9)) {
            case 0, 1, 2 -> {
                Entry other = anyNamedDirectory();
                start(rename(y, other.ino(), anyName(), 0));
                start(rename(other, y.ino(), anyName(), 0));
            }
            case 3 -> {
                start(rename(x, y.ino(), anyName(), random.nextInt(3)));
                start(rename(x, z.ino(), anyName(), random.nextInt(2)));
            }
            case 4 -> {
                start(rename(x, y.ino(), anyName(), 0));
                start(remove(random.nextBoolean() ? x : y));
            }
            case 5 -> {
                start(rename(x, y.parent(), ByteBuffer.wrap(y.name()), random.nextInt(3)));
                start(rename(y, x.parent(), ByteBuffer.wrap(x.name()), random.nextInt(3)));
            }
            case 6 -> {
                start(UpdateOp.link(new LinkOp(x.ino(), y.ino(), anyName())));
                start(random.nextBoolean() ? remove(x) : rename(x, z.ino(), anyName(), 0));
            }
            case 7 -> {
                start(create(y.ino()));
                start(remove(y));
            }
            default -> {
                start(rename(y, z.ino(), anyName(), 0));
                start(rename(any(entries), y.ino(), anyName(), 0));
            }
        }
    }

    private UpdateOp relocate(Entry entry) {
        int to = random.nextInt(REGIONS + 1);
        return UpdateOp.move(new MoveOp(List.of(entry.ino()), to).setLimit(1 + random.nextInt(10)));
    }

    private void grow() {
        start(create(any(directories).ino()));
        start(create(any(directories).ino()));
    }

    private UpdateOp create(long parent) {
        boolean directory = directories.size() < FEW && random.nextBoolean();
        int mode = directory ? Mode.DIRECTORY | 0777 : Mode.REGULAR | 0666;
        return UpdateOp.create(new CreateOp(parent, anyName(), mode));
    }

    private static UpdateOp rename(Entry entry, long newParent, ByteBuffer newName, int flags) {
        return UpdateOp.rename(
                new RenameOp(
                        entry.parent(), ByteBuffer.wrap(entry.name()), newParent, newName, flags));
    }

    private static UpdateOp remove(Entry entry) {
        return UpdateOp.unlink(
                new UnlinkOp(entry.parent(), ByteBuffer.wrap(entry.name()), entry.directory()));
    }

    private static long parent(UpdateOp op) {
        return switch (op.getSetField()) {
            case CREATE -> op.getCreate().getParent();
            case UNLINK -> op.getUnlink().getParent();
            case RENAME -> op.getRename().getParent();
            case MOVE -> Partitions.ROOT;
            default -> op.getLink().getNewParent();
        };
    }

    private void start(UpdateOp op) {
        sessions = sessions % 256 + 1;
        Command command = rings.command(sessions, 0, random.nextInt(REGIONS + 1), op);
        // Clients know where things are, or were a while ago.
        long parent = parent(op);
        int where = random.nextInt(4) > 0 ? rings.home(parent) : Partitions.ofBirth(parent);
        flights.start(command, where);
    }

    private void landed(Command command, UpdateReply reply) {
        if (command.getOp().isSetMove()) {
            relocated += reply.getDone();
            return;
        }
        if (!command.getOp().isSetRename()) {
            return;
        }
        cycles += reply.getErrno() == Errno.EINVAL.number() ? 1 : 0;
        boolean over = command.isCoordinated() && command.isMovesDirectory();
        moved += reply.getErrno() == 0 && over ? 1 : 0;
    }

    /** Some steps, until not too much is under way. */
    private void weather() {
        int steps = random.nextInt(10);
        while (steps > 0 || flights.size() > AT_ONCE) {
            steps--;
            int partition = 1 + random.nextInt(REGIONS);
            switch (random.nextInt(11)) {
                case 0, 1, 2 -> rings.importOne(partition);
                case 3, 4 -> rings.vote(partition);
                case 5 -> {
                    rings.importInto(partition);
                    rings.vote(partition);
                    rings.vote(partition);
                }
                case 6, 7, 8, 9 -> flights.goOn(random, 6);
                default -> rare();
            }
        }
    }

    private void rare() {
        List<PendingTransaction> pending = rings.state(0).pendingTransactions();
        switch (random.nextInt(120)) {
            case 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 -> {
                if (!pending.isEmpty()) {
                    long transaction = any(pending).transaction();
                    rings.internal(0, UpdateOp.decide(new DecideOp(transaction)));
                }
            }
            case 10, 11, 12, 13, 14 -> {
                rings.passMs(random.nextInt(100_000));
                int partition = random.nextInt(REGIONS + 1);
                rings.internal(partition, UpdateOp.collectOrphans(new CollectOrphansOp(20)));
            }
            case 15 -> {
                int partition = random.nextInt(REGIONS + 1);
                byte[] before = rings.state(partition).hash().digest();
                rings.state(partition).flush();
                rings.crash(partition);
                assertThat(rings.state(partition).hash().digest()).isEqualTo(before);
            }
            default -> {}
        }
    }
}

package org.globalfs.replica.state;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.random.RandomGenerator;
import org.globalfs.protocol.Errno;
import org.globalfs.protocol.wire.AdoptQuotaOp;
import org.globalfs.protocol.wire.Command;
import org.globalfs.protocol.wire.CreateOp;
import org.globalfs.protocol.wire.DecideOp;
import org.globalfs.protocol.wire.DirectoryEntry;
import org.globalfs.protocol.wire.MoveOp;
import org.globalfs.protocol.wire.ReadDirectoryOp;
import org.globalfs.protocol.wire.ReadOp;
import org.globalfs.protocol.wire.ReadReply;
import org.globalfs.protocol.wire.RenameOp;
import org.globalfs.protocol.wire.SetQuotaOp;
import org.globalfs.protocol.wire.Status;
import org.globalfs.protocol.wire.TidyCopiesOp;
import org.globalfs.protocol.wire.UnlinkOp;
import org.globalfs.protocol.wire.UpdateOp;
import org.globalfs.protocol.wire.UpdateReply;
import org.globalfs.replica.state.model.Mode;
import org.globalfs.replica.state.model.Partitions;
import org.globalfs.replica.state.operations.Copies.Copy;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Directories that are too large for one command: copied ahead while they are in use. */
final class CopiesTest {

    private static final int REGIONS = 3;
    private static final int FILE = Mode.REGULAR | 0644;
    private static final int DIRECTORY = Mode.DIRECTORY | 0755;

    /** About ten entries. */
    private static final int ROOM = 150;

    @TempDir Path folder;
    private Rings rings;
    private long home;

    @BeforeEach
    void open() {
        rings = new Rings(folder, REGIONS);
        home = made(Partitions.ROOT, "home", DIRECTORY);
        assertThat(rings.home(home)).isEqualTo(1);
    }

    /** Nothing of any copying is left, wherever it ended. */
    @AfterEach
    void check() {
        rings.settle();
        for (int round = 0; round < 2; round++) {
            for (int partition = 1; partition <= REGIONS; partition++) {
                giveUpAll(partition, 100_000);
            }
        }
        for (int partition = 0; partition <= REGIONS; partition++) {
            assertThat(rings.state(partition).copying())
                    .isEqualTo(new PartitionState.Copying(List.of(), false));
            assertThat(rings.state(partition).check().report().staged).isZero();
        }
        Consistency.check(rings, REGIONS);
        rings.close();
    }

    private UpdateReply run(long ino, UpdateOp op) {
        return rings.run(rings.home(ino), rings.command(5, 0, 1, op));
    }

    private static ByteBuffer bytes(String name) {
        return ByteBuffer.wrap(name.getBytes(UTF_8));
    }

    private static UpdateOp create(long parent, String name, int mode) {
        return UpdateOp.create(new CreateOp(parent, bytes(name), mode));
    }

    private long made(long parent, String name, int mode) {
        UpdateReply reply = run(parent, create(parent, name, mode));
        assertThat(reply.getErrno()).isZero();
        return reply.getAttributes().getIno();
    }

    private void removed(String name) {
        UnlinkOp op = new UnlinkOp(home, bytes(name), false);
        assertThat(run(home, UpdateOp.unlink(op)).getErrno()).isZero();
    }

    private void renamed(String name, String newName) {
        RenameOp op = new RenameOp(home, bytes(name), home, bytes(newName), 0);
        assertThat(run(home, UpdateOp.rename(op)).getErrno()).isZero();
    }

    private void fill(int names) {
        for (int i = 0; i < names; i++) {
            made(home, "f%03d".formatted(i), FILE);
        }
    }

    private Command move(int to) {
        MoveOp op = new MoveOp(List.of(home), to).setBytes(ROOM);
        return rings.command(9, 0, to, UpdateOp.move(op));
    }

    private UpdateReply moved(int to) {
        UpdateReply reply = rings.run(0, move(to));
        assertThat(reply.getErrno()).isZero();
        return reply;
    }

    /** Returns how many commands it took. */
    private int movedWholly(int to) {
        int commands = 0;
        while (rings.home(home) != to) {
            UpdateReply reply = moved(to);
            commands++;
            assertThat(commands).isLessThan(200);
            assertThat(reply.getStayed()).isEmpty();
            assertThat(reply.getRest().contains(home)).isEqualTo(rings.home(home) != to);
        }
        return commands;
    }

    private Map<String, Long> names() {
        Map<String, Long> names = new TreeMap<>();
        ReadReply page = new ReadReply();
        for (long cookie = 0; !page.isLast(); ) {
            ReadOp op = ReadOp.readDirectory(new ReadDirectoryOp(home, cookie, 4000));
            page = rings.readAt(home, 0, op);
            for (DirectoryEntry entry : page.getEntries()) {
                names.put(new String(entry.getName(), UTF_8), entry.getIno());
                cookie = entry.getCookie();
            }
        }
        return names;
    }

    private void giveUpAll(int partition, int limit) {
        Map<Long, Long> idle = new HashMap<>();
        rings.state(partition)
                .copying()
                .copies()
                .forEach(copy -> idle.put(copy.number(), copy.part()));
        tidy(partition, limit, idle);
        rings.settle();
    }

    private void tidy(int partition, int limit, Map<Long, Long> idle) {
        rings.internal(partition, UpdateOp.tidyCopies(new TidyCopiesOp(limit, idle)));
    }

    private Copy copy(int partition) {
        return rings.state(partition).copying().copies().getFirst();
    }

    private void countAll() {
        for (int partition = 1; partition <= REGIONS; partition++) {
            while (rings.state(partition).isCounting()) {
                rings.internal(partition, UpdateOp.adoptQuota(new AdoptQuotaOp(1000)));
            }
        }
    }

    @Test
    void itIsInUseAllTheTime() {
        fill(60);
        Map<String, Long> expected = names();
        int number = 0;
        while (rings.home(home) == 1) {
            moved(2);
            // Before and behind what was copied.
            for (String name : List.of("a" + number, "z" + number)) {
                expected.put(name, made(home, name, FILE));
            }
            String gone = "f%03d".formatted(5 + number);
            removed(gone);
            expected.remove(gone);
            String renamed = "f%03d".formatted(40 - number);
            renamed(renamed, "f%03dx".formatted(number));
            expected.put("f%03dx".formatted(number), expected.remove(renamed));
            String again = "f%03d".formatted(59 - number);
            removed(again);
            expected.put(again, made(home, again, FILE));
            assertThat(names()).isEqualTo(expected);
            number++;
        }
        assertThat(number).isGreaterThan(6);
        assertThat(names()).isEqualTo(expected);
        assertThat(rings.state(1).copying().untidy()).as("its entries are still there").isTrue();
    }

    @Test
    void aNameThatChangesWhileItsPartIsOnItsWayIsCopiedAgain() {
        fill(30);
        moved(2);
        Command next = move(2);
        rings.deliver(0, List.of(rings.stamped(next)));
        rings.importInto(1);
        // Prepared: these are in the part, or were in the one before.
        for (String name : List.of("f012", "f001")) {
            UnlinkOp op = new UnlinkOp(home, bytes(name), false);
            Command unlink = rings.command(6, 0, 1, UpdateOp.unlink(op));
            rings.deliver(1, List.of(rings.stamped(unlink)));
            assertThat(rings.takeReply(unlink).getStatus()).as(name).isEqualTo(Status.DONE);
        }
        rings.settle();
        assertThat(rings.takeReply(next).getErrno()).isZero();
        movedWholly(2);
        assertThat(names()).hasSize(28).doesNotContainKeys("f012", "f001");
    }

    private void moveAndAbort() {
        rings.deliver(0, List.of(rings.stamped(move(2))));
        rings.importInto(1);
        long transaction = rings.state(0).pendingTransactions().getFirst().transaction();
        rings.internal(0, UpdateOp.decide(new DecideOp(transaction)));
        rings.settle();
    }

    /** And what changed before its turn came again leaves no room for what had not come. */
    @Test
    void aPartOfChangesDoesNotReachFurther() {
        fill(40);
        moved(2);
        moved(2);
        moveAndAbort();
        Map<String, Long> expected = names();
        for (int i = 0; i < 15; i++) {
            String name = "f%03d".formatted(i);
            removed(name);
            expected.put(name, made(home, name, FILE));
        }
        movedWholly(2);
        assertThat(names()).isEqualTo(expected);
    }

    @Test
    void whatWasNotDecidedIsCopiedAgain() {
        fill(30);
        for (int i = 0; i < 3; i++) {
            moveAndAbort();
            removed("f00" + i);
        }
        assertThat(copy(1).copied()).isEmpty();
        movedWholly(2);
        assertThat(names()).hasSize(27).containsKey("f003");
    }

    @Test
    void itIsMovedByOneAtATime() {
        fill(30);
        // Or moves hold all directories' parents, and wait for each other.
        rings.run(0, rings.command(5, 0, 3, create(Partitions.ROOT, "third", DIRECTORY)));
        Command first = move(2);
        rings.deliver(0, List.of(rings.stamped(first)));
        rings.importInto(1);
        Command second = rings.command(10, 0, 2, move(2).getOp());
        rings.deliver(0, List.of(rings.stamped(second)));
        rings.settle();
        UpdateReply one = rings.takeReply(first);
        UpdateReply other = rings.takeReply(second);
        assertThat(one.getStayed()).as("%s", one).isEmpty();
        assertThat(other.getStayed()).as("%s", other).containsExactly(home);
        movedWholly(2);
        assertThat(names()).hasSize(30);
    }

    @Test
    void whatNobodyGoesOnWithIsErasedOnBothSides() {
        fill(30);
        moved(2);
        moved(2);
        removed("f001");
        tidy(1, 100, Map.of(copy(1).number(), 1L));
        assertThat(copy(1).ended()).as("it went on since").isFalse();
        tidy(1, 100, Map.of(copy(1).number(), 2L));
        assertThat(rings.state(1).copying().copies()).isEmpty();
        assertThat(rings.state(2).check().report().staged).isEqualTo(1);
        rings.settle();
        assertThat(rings.state(2).copying().untidy()).isTrue();
        for (int i = 0; i < 20; i++) {
            tidy(2, 3, Map.of());
        }
        assertThat(rings.state(2).copying().untidy()).isFalse();
        assertThat(rings.state(2).check().report().staged).isZero();
        assertThat(names()).hasSize(29);
    }

    @Test
    void itMayBeWantedElsewhereMeanwhile() {
        fill(30);
        moved(2);
        assertThat(moved(3).getStayed()).containsExactly(home);
        assertThat(moved(3).getStayed()).as("until what it has noted is erased").isNotEmpty();
        tidy(1, 100, Map.of());
        assertThat(movedWholly(3)).isGreaterThan(2);
        assertThat(names()).hasSize(30);
    }

    /** Before what it left is erased, or what came of it before. */
    @Test
    void itMayComeBackAtOnce() {
        fill(30);
        movedWholly(2);
        removed("f007");
        made(home, "new", FILE);
        assertThat(movedWholly(1)).isGreaterThan(2);
        assertThat(names()).hasSize(30).containsKey("new").doesNotContainKey("f007");
        movedWholly(2);
        tidy(1, 5, Map.of());
        for (int i = 8; i < 28; i++) {
            removed("f%03d".formatted(i));
        }
        MoveOp whole = new MoveOp(List.of(home), 1);
        rings.run(0, rings.command(9, 0, 1, UpdateOp.move(whole)));
        assertThat(rings.home(home)).isEqualTo(1);
        assertThat(names()).hasSize(10);
    }

    /** Its entries would all be erased by the command that the first ones come with. */
    @Test
    void aWideOneComesBackOnceMostOfWhatItLeftIsErased() {
        fill(4_200);
        moveInLargeParts(2);
        for (int erased : new int[] {200, 4_000, 300}) { // of two records an entry
            Command back = largePart(1);
            rings.deliver(0, List.of(rings.stamped(back)));
            rings.settle();
            assertThat(rings.takeReply(back).getStatus()).isEqualTo(Status.RETRY);
            tidy(1, erased, Map.of());
        }
        moveInLargeParts(1);
    }

    /** Where it lives now only the partition of its birth knows. */
    @Test
    void soDoesAWideOneThatWasBornInAThirdPartition() {
        fill(4_200);
        moveInLargeParts(2);
        tidy(1, 100_000, Map.of());
        moveInLargeParts(3);
        Command back = largePart(2);
        rings.deliver(0, List.of(rings.stamped(back)));
        rings.settle();
        assertThat(rings.takeReply(back).getStatus()).isEqualTo(Status.RETRY);
        tidy(2, 4_500, Map.of());
        moveInLargeParts(2);
    }

    private Command largePart(int to) {
        MoveOp op = new MoveOp(List.of(home), to).setBytes(64 << 10);
        return rings.command(9, 0, to, UpdateOp.move(op));
    }

    private void moveInLargeParts(int to) {
        for (int i = 0; i < 20 && rings.home(home) != to; i++) {
            assertThat(rings.run(0, largePart(to)).getErrno()).isZero();
        }
        assertThat(rings.home(home)).isEqualTo(to);
    }

    @Test
    void aCopyingThatBeginsAnewIsNotTakenForTheOneBefore() {
        fill(30);
        moved(2);
        moved(2);
        removed("f001");
        // The other partition hears of it only after the next one has begun.
        tidy(1, 100, Map.of(copy(1).number(), 2L));
        rings.deliver(0, List.of(rings.stamped(move(2))));
        rings.importInto(1);
        rings.vote(1);
        rings.importInto(2);
        rings.vote(2);
        rings.importInto(2);
        rings.settle();
        assertThat(rings.state(2).copying().untidy()).isFalse();
        movedWholly(2);
        assertThat(names()).hasSize(29).doesNotContainKey("f001");
    }

    @Test
    void aDirectoryThatIsRemovedMeanwhileLeavesNothing() {
        fill(30);
        moved(2);
        for (String name : Set.copyOf(names().keySet())) {
            removed(name);
        }
        UnlinkOp op = new UnlinkOp(Partitions.ROOT, bytes("home"), true);
        assertThat(run(Partitions.ROOT, UpdateOp.unlink(op)).getErrno()).isZero();
        assertThat(rings.state(1).copying().untidy()).isTrue();
        tidy(1, 7, Map.of());
        assertThat(rings.state(1).copying().copies()).as("not all at once").hasSize(1);
        for (int i = 0; i < 10; i++) {
            tidy(1, 7, Map.of());
        }
        assertThat(rings.state(1).copying().copies()).isEmpty();
    }

    @Test
    void itsQuotaGoesAlong() {
        fill(30);
        SetQuotaOp quota = new SetQuotaOp(home).setInodes(40);
        assertThat(run(home, UpdateOp.setQuota(quota)).getErrno()).isZero();
        countAll();
        movedWholly(2);
        List<Long> files = new ArrayList<>(names().values());
        rings.run(0, rings.command(9, 0, 2, UpdateOp.move(new MoveOp(files, 2))));
        countAll();
        for (int i = 0; i < 9; i++) {
            made(home, "more" + i, FILE);
        }
        UpdateReply over = run(home, create(home, "over", FILE));
        assertThat(over.getErrno()).isEqualTo(Errno.EDQUOT.number());
    }

    /** Partition 0 has to see all directories in one that comes or goes. */
    @Test
    void itStaysOutOfPartition0() {
        fill(30);
        UpdateReply reply = moved(0);
        assertThat(reply.getDone()).as("as a whole: it is small enough for that").isPositive();
        assertThat(rings.home(home)).isZero();
    }

    /** Every step of moves by itself, in any order with what others do. */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6})
    void anythingInBetween(long seed) {
        RandomGenerator random = new Random(seed);
        Map<String, Long> expected = new TreeMap<>();
        Set<Integer> homes = new TreeSet<>();
        int parts = 0;
        int to = 2;
        for (int step = 0; step < 1500; step++) {
            switch (random.nextInt(14)) {
                case 0 -> {
                    to = random.nextInt(60) == 0 ? 1 + random.nextInt(REGIONS) : to;
                    rings.deliver(0, List.of(rings.stamped(move(to))));
                    parts++;
                }
                case 1, 2, 8 -> rings.importInto(1 + random.nextInt(REGIONS));
                case 3, 6, 7, 9 -> rings.vote(1 + random.nextInt(REGIONS));
                case 4 -> {
                    int partition = 1 + random.nextInt(REGIONS);
                    Map<Long, Long> idle = new HashMap<>();
                    for (Copy copy : rings.state(partition).copying().copies()) {
                        if (random.nextInt(100) == 0) {
                            idle.put(copy.number(), copy.part());
                        }
                    }
                    tidy(partition, 1 + random.nextInt(20), idle);
                }
                case 5 -> rings.deliverNotices(1 + random.nextInt(REGIONS));
                default -> change(random, expected);
            }
            if (step % 100 == 99) {
                int partition = random.nextInt(REGIONS + 1);
                if (random.nextBoolean()) {
                    rings.state(partition).flush();
                }
                rings.crash(partition);
                rings.settle();
                if (rings.home(home) == to) {
                    to = 1 + to % REGIONS;
                }
                assertThat(names()).isEqualTo(expected);
                Consistency.check(rings, REGIONS);
            }
            homes.add(rings.home(home));
        }
        System.out.println("seed " + seed + ": " + parts + " commands, homes " + homes);
        assertThat(homes).hasSizeGreaterThan(1);
        assertThat(parts).isGreaterThan(50);
    }

    /** Where it lives, if that can be done there now. */
    private void change(RandomGenerator random, Map<String, Long> expected) {
        String name = "n%02d".formatted(random.nextInt(60));
        boolean exists = expected.containsKey(name);
        String newName = "n%02d".formatted(random.nextInt(60));
        UpdateOp op =
                !exists
                        ? create(home, name, FILE)
                        : random.nextInt(3) > 0
                                ? UpdateOp.rename(
                                        new RenameOp(home, bytes(name), home, bytes(newName), 0))
                                : UpdateOp.unlink(new UnlinkOp(home, bytes(name), false));
        int partition = rings.home(home);
        if (partition == 0) {
            return;
        }
        Command command = rings.command(7, 0, 1, op);
        rings.deliver(partition, List.of(rings.stamped(command)));
        UpdateReply reply = rings.takeReply(command);
        if (reply == null || reply.getStatus() != Status.DONE) {
            return;
        }
        assertThat(reply.getErrno()).isZero();
        if (op.isSetCreate()) {
            expected.put(name, reply.getAttributes().getIno());
        } else {
            long ino = Objects.requireNonNull(expected.remove(name));
            if (op.isSetRename()) {
                expected.put(newName, ino);
            }
        }
    }
}

package org.globalfs.replica.state;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import org.globalfs.multicast.Entry;
import org.globalfs.protocol.Errno;
import org.globalfs.protocol.wire.Command;
import org.globalfs.protocol.wire.CreateOp;
import org.globalfs.protocol.wire.LookupOp;
import org.globalfs.protocol.wire.ReadOp;
import org.globalfs.protocol.wire.RenameOp;
import org.globalfs.protocol.wire.Status;
import org.globalfs.protocol.wire.UnlinkOp;
import org.globalfs.protocol.wire.UpdateOp;
import org.globalfs.protocol.wire.UpdateReply;
import org.globalfs.replica.state.model.Mode;
import org.globalfs.replica.state.model.Partitions;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Directories that get parents in other partitions: what may move where, and what may not. */
final class DirectoryMovesTest {

    private static final int REGIONS = 3;
    private static final int EXCHANGE = 2;

    @TempDir Path folder;

    private Rings rings;
    private long west;
    private long east;
    private long eu;

    @BeforeEach
    void open() {
        rings = new Rings(folder, REGIONS);
        west = directory(Partitions.ROOT, "west", 1);
        east = directory(Partitions.ROOT, "east", 2);
        eu = directory(Partitions.ROOT, "eu", 3);
    }

    @AfterEach
    void close() {
        Consistency.check(rings, REGIONS);
        rings.close();
    }

    private static ByteBuffer name(String text) {
        return ByteBuffer.wrap(text.getBytes(UTF_8));
    }

    private long directory(long parent, String name, int origin) {
        return create(parent, name, Mode.DIRECTORY | 0755, origin);
    }

    private long create(long parent, String name, int mode, int origin) {
        CreateOp op = new CreateOp(parent, name(name), mode);
        Command command = rings.command(7, 0, origin, UpdateOp.create(op));
        UpdateReply reply = rings.run(Partitions.ofBirth(parent), command);
        assertThat(reply.getErrno()).isZero();
        return reply.getAttributes().getIno();
    }

    private Command command(long from, String name, long to, String newName, int flags) {
        RenameOp op = new RenameOp(from, name(name), to, name(newName), flags);
        return rings.command(8, 0, 1, UpdateOp.rename(op));
    }

    private int rename(long from, String name, long to, String newName) {
        return rings.run(Partitions.ofBirth(from), command(from, name, to, newName, 0)).getErrno();
    }

    private long parent(long directory) {
        ReadOp op = ReadOp.lookup(new LookupOp(directory, name("..")));
        return rings.read(Partitions.ofBirth(directory), 0, op).getIno();
    }

    private boolean exists(long parent, String name) {
        return rings.state(Partitions.ofBirth(parent)).child(parent, name.getBytes(UTF_8)) != null;
    }

    private void submit(int partition, Command command) {
        rings.deliver(partition, List.of(rings.stamped(command)));
    }

    /** Whether the command is ended by its partition alone, and how. */
    private UpdateReply alone(Command command) {
        submit(Partitions.ofBirth(command.getOp().getRename().getParent()), command);
        return Objects.requireNonNull(rings.reply(command));
    }

    @Test
    void aDirectoryMovesBetweenRegionsWithAllThatIsBelow() {
        long d = directory(west, "d", 1);
        long inner = directory(d, "inner", 1);
        create(inner, "f", 0100644, 1);
        assertThat(rename(west, "d", east, "moved")).isZero();
        assertThat(exists(west, "d")).isFalse();
        assertThat(exists(east, "moved")).isTrue();
        assertThat(parent(d)).isEqualTo(east);
        long made = create(d, "g", 0100644, 2);
        assertThat(Partitions.ofBirth(made)).isEqualTo(1);
        assertThat(rename(east, "moved", eu, "again")).isZero();
        assertThat(rename(eu, "again", Partitions.ROOT, "top")).isZero();
        assertThat(parent(d)).isEqualTo(Partitions.ROOT);
        assertThat(rename(Partitions.ROOT, "top", west, "d")).isZero();
    }

    @Test
    void noDirectoryComesToLieBelowItself() {
        long a = directory(west, "a", 1);
        assertThat(rename(Partitions.ROOT, "east", a, "east")).isZero();
        long b = directory(east, "b", 2);
        assertThat(rename(Partitions.ROOT, "eu", b, "eu")).isZero();
        long c = directory(eu, "c", 3);
        long inWest = directory(west, "w", 1);
        assertThat(rename(west, "w", c, "w")).isZero();
        int invalid = Errno.EINVAL.number();
        assertThat(rename(Partitions.ROOT, "west", c, "x")).isEqualTo(invalid);
        assertThat(rename(west, "a", c, "x")).isEqualTo(invalid);
        // Both directories and the inode are in one partition, and the way between them is not.
        assertThat(rename(west, "a", inWest, "x")).isEqualTo(invalid);
        assertThat(rename(east, "b", inWest, "x")).isEqualTo(invalid);
        assertThat(rename(c, "w", west, "back")).isZero();
        assertThat(rename(west, "a", inWest, "x")).isZero();
    }

    @Test
    void usuallyAMoveInsideARegionIsOneCommandThere() {
        long a = directory(west, "a", 1);
        directory(west, "b", 1);
        UpdateReply reply = alone(command(west, "b", a, "b", 0));
        assertThat(reply.getStatus()).isEqualTo(Status.DONE);
        assertThat(reply.getErrno()).isZero();
    }

    @Test
    void whileAGlobalDirectoryLiesInARegionAllRegionsReckonWithIt() {
        long global = directory(Partitions.ROOT, "global", 0);
        long a = directory(west, "a", 1);
        long b = directory(east, "b", 2);
        directory(east, "other", 2);
        assertThat(rename(Partitions.ROOT, "global", a, "global")).isZero();
        for (int partition = 0; partition <= REGIONS; partition++) {
            assertThat(rings.state(partition).check().report().globalBelow).isEqualTo(1);
        }
        assertThat(rename(Partitions.ROOT, "east", global, "east")).isZero();
        Command inside = command(east, "other", b, "other", 0);
        assertThat(alone(inside).getStatus()).isEqualTo(Status.ESCALATE);
        assertThat(rings.run(2, inside).getErrno()).isZero();
        assertThat(rename(Partitions.ROOT, "west", b, "x")).isEqualTo(Errno.EINVAL.number());
        assertThat(rename(west, "a", b, "x")).isEqualTo(Errno.EINVAL.number());
        assertThat(rename(a, "global", Partitions.ROOT, "global")).isZero();
        for (int partition = 0; partition <= REGIONS; partition++) {
            assertThat(rings.state(partition).check().report().globalBelow).isZero();
        }
    }

    @Test
    void aRegionsFirstDirectoryComesWithWhatTheOthersKnow() {
        try (Rings two = new Rings(folder.resolve("other"), 2)) {
            Rings before = rings;
            rings = two;
            long home = directory(Partitions.ROOT, "home", 1);
            long global = directory(Partitions.ROOT, "global", 0);
            assertThat(rename(Partitions.ROOT, "global", home, "global")).isZero();
            assertThat(two.state(2).check().report().globalBelow).isZero();
            directory(global, "late", 2);
            assertThat(two.state(2).check().report().globalBelow).isEqualTo(1);
            UnlinkOp rmdir = new UnlinkOp(global, name("late"), true);
            two.run(0, two.command(7, 0, 1, UpdateOp.unlink(rmdir)));
            UnlinkOp last = new UnlinkOp(home, name("global"), true);
            UpdateReply reply = two.run(1, two.command(7, 0, 1, UpdateOp.unlink(last)));
            assertThat(reply.getErrno()).isZero();
            assertThat(two.state(1).check().report().globalBelow).isZero();
            Consistency.check(two, 2);
            rings = before;
        }
    }

    @Test
    void exchangesDirectoriesOfSeveralRegions() {
        long a = directory(west, "a", 1);
        long b = directory(east, "b", 2);
        Command swap = command(west, "a", east, "b", EXCHANGE);
        assertThat(rings.run(1, swap).getErrno()).isZero();
        assertThat(parent(a)).isEqualTo(east);
        assertThat(parent(b)).isEqualTo(west);
        long below = directory(a, "below", 1);
        Command under = command(Partitions.ROOT, "east", below, "none", EXCHANGE);
        assertThat(rings.run(0, under).getErrno()).isEqualTo(Errno.ENOENT.number());
        directory(below, "x", 1);
        Command cycle = command(Partitions.ROOT, "east", below, "x", EXCHANGE);
        assertThat(rings.run(0, cycle).getErrno()).isEqualTo(Errno.EINVAL.number());
    }

    /** A client that does not tell what it is about costs a round more, nothing else. */
    @Test
    void partitionZeroFindsOutByItselfThatADirectoryMoves() {
        long d = directory(west, "d", 1);
        Command silent = command(west, "d", east, "d", 0);
        submit(1, silent);
        UpdateReply reply = Objects.requireNonNull(rings.reply(silent));
        assertThat(reply.isMovesDirectory()).isTrue();
        Command next = Escalation.of(silent, reply).command();
        next.unsetMovesDirectory();
        submit(0, next);
        rings.settle();
        assertThat(Objects.requireNonNull(rings.reply(silent)).getErrno()).isZero();
        assertThat(parent(d)).isEqualTo(east);
    }

    @Test
    void crosswiseMovesEndInOneOrder() {
        directory(west, "a", 1);
        directory(east, "b", 2);
        long a = Objects.requireNonNull(rings.state(1).child(west, "a".getBytes(UTF_8))).ino();
        long b = Objects.requireNonNull(rings.state(2).child(east, "b".getBytes(UTF_8))).ino();
        RenameOp one = new RenameOp(west, name("a"), b, name("a"), 0);
        RenameOp two = new RenameOp(east, name("b"), a, name("b"), 0);
        Flights flights = new Flights(rings, (command, reply) -> {});
        flights.start(rings.command(11, 0, 1, UpdateOp.rename(one)), 1);
        flights.start(rings.command(12, 0, 2, UpdateOp.rename(two)), 2);
        flights.land();
        assertThat(flights.succeeded).isEqualTo(1);
        assertThat(flights.finished).isEqualTo(2);
    }

    /** Whatever crashes after whichever step, the directory moves once and whole. */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6})
    void survivesCrashesBetweenSteps(long seed) {
        System.out.println("directory move with crashes: seed " + seed);
        Random random = new Random(seed);
        long global = directory(Partitions.ROOT, "global", 0);
        long deep = directory(west, "deep", 1);
        assertThat(rename(Partitions.ROOT, "east", deep, "east")).isZero();
        Flights flights = new Flights(rings, (command, reply) -> {});
        flights.start(command(Partitions.ROOT, "global", east, "global", 0), 0);
        for (int step = 0; step < 200 && flights.size() > 0; step++) {
            int partition = 1 + random.nextInt(REGIONS);
            switch (random.nextInt(4)) {
                case 0 -> importNext(partition);
                case 1 -> rings.vote(partition);
                case 2 -> flights.goOn(random, 2);
                default -> crash(random);
            }
        }
        flights.land();
        assertThat(flights.succeeded).isEqualTo(1);
        assertThat(parent(global)).isEqualTo(east);
        assertThat(exists(Partitions.ROOT, "global")).isFalse();
    }

    private void importNext(int partition) {
        long next =
                rings.state(0).nextConcerning(partition, rings.state(partition).importedThrough());
        if (next >= 0) {
            rings.deliver(partition, List.of(new Entry.Import(next)));
        }
    }

    private void crash(Random random) {
        int partition = random.nextInt(REGIONS + 1);
        byte[] before = rings.state(partition).hash().digest();
        if (random.nextBoolean()) {
            rings.state(partition).flush();
        }
        rings.crash(partition);
        assertThat(rings.state(partition).hash().digest()).isEqualTo(before);
    }
}

package org.globalfs.replica.state;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.LongStream;
import org.globalfs.protocol.wire.CollectOrphansOp;
import org.globalfs.protocol.wire.Command;
import org.globalfs.protocol.wire.CreateOp;
import org.globalfs.protocol.wire.DecideOp;
import org.globalfs.protocol.wire.LinkOp;
import org.globalfs.protocol.wire.RenameOp;
import org.globalfs.protocol.wire.SetAttributesOp;
import org.globalfs.protocol.wire.UnlinkOp;
import org.globalfs.protocol.wire.UpdateOp;
import org.globalfs.protocol.wire.UpdateReply;
import org.globalfs.replica.state.model.Mode;
import org.globalfs.replica.state.model.Partitions;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Many operations at once over several partitions, whose steps (prepare, imports, votes, time-outs,
 * repetitions, crashes) come in any order. At every pause the tree must be whole.
 */
final class OverlappingOperationsTest {

    private static final int REGIONS = 3;
    private static final int STEPS = 4000;
    private static final int AT_ONCE = 8;
    private static final int NAMES = 3;
    private static final int KNOWN = 7;

    @TempDir Path folder;

    private final List<Long> directories = new ArrayList<>();
    private final List<Long> files = new ArrayList<>();

    /** Set METADATA_SEEDS to "from-to" for a longer run. */
    static LongStream seeds() {
        String range = System.getenv("METADATA_SEEDS");
        if (range == null) {
            return LongStream.rangeClosed(1, 4);
        }
        String[] ends = range.split("-");
        return LongStream.rangeClosed(Long.parseLong(ends[0]), Long.parseLong(ends[1]));
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void theTreeStaysWhole(long seed) {
        System.out.println("overlapping operations: seed " + seed);
        Random random = new Random(seed);
        directories.add(Partitions.ROOT);
        try (Rings rings = new Rings(folder, REGIONS)) {
            SetAttributesOp open = new SetAttributesOp(Partitions.ROOT).setMode(01777);
            rings.run(0, rings.command(1, 0, 0, UpdateOp.setAttributes(open)));
            Flights flights = new Flights(rings, this::landed);
            for (int step = 0; step < STEPS; step++) {
                step(rings, flights, random);
                if (step % 400 == 399) {
                    flights.land();
                    Consistency.check(rings, REGIONS);
                }
            }
            System.out.printf(
                    "%d operations, %d succeeded, %d times locked, %d escalated%n",
                    flights.finished, flights.succeeded, flights.locked, flights.escalated);
            assertThat(flights.succeeded)
                    .as("of %s operations", flights.finished)
                    .isGreaterThan(flights.finished / 10);
        }
    }

    private void step(Rings rings, Flights flights, Random random) {
        switch (random.nextInt(14)) {
            case 0, 1, 2, 3, 4 -> {
                if (flights.size() < AT_ONCE) {
                    start(rings, flights, random);
                }
            }
            case 5, 6, 7 -> rings.importOne(1 + random.nextInt(REGIONS));
            case 8, 9 -> rings.vote(1 + random.nextInt(REGIONS));
            case 10, 11, 12 -> flights.goOn(random, 8);
            default -> rare(rings, random);
        }
    }

    private void rare(Rings rings, Random random) {
        List<PendingTransaction> pending = rings.state(0).pendingTransactions();
        switch (random.nextInt(8)) {
            case 0 -> {
                if (!pending.isEmpty()) {
                    long transaction = pending.get(random.nextInt(pending.size())).transaction();
                    rings.internal(0, UpdateOp.decide(new DecideOp(transaction)));
                }
            }
            case 1 -> {
                rings.passMs(random.nextInt(100_000));
                int partition = random.nextInt(REGIONS + 1);
                rings.internal(partition, UpdateOp.collectOrphans(new CollectOrphansOp(20)));
            }
            case 2 -> {
                int partition = random.nextInt(REGIONS + 1);
                byte[] before = rings.state(partition).hash().digest();
                rings.state(partition).flush();
                rings.crash(partition);
                assertThat(rings.state(partition).hash().digest()).isEqualTo(before);
            }
            default -> {}
        }
    }

    private static ByteBuffer name(Random random) {
        return ByteBuffer.wrap(("n" + random.nextInt(NAMES)).getBytes(UTF_8));
    }

    private long directory(Random random) {
        return random.nextInt(3) == 0
                ? Partitions.ROOT
                : directories.get(random.nextInt(directories.size()));
    }

    private void start(Rings rings, Flights flights, Random random) {
        int uid = random.nextInt(3) == 0 ? 1000 : 0;
        long parent = directory(random);
        UpdateOp op;
        switch (random.nextInt(10)) {
            case 0, 1, 2 -> {
                boolean directory = random.nextInt(3) > 0;
                int mode = directory ? Mode.DIRECTORY | 0777 : Mode.REGULAR | 0666;
                op = UpdateOp.create(new CreateOp(parent, name(random), mode));
            }
            case 3, 4 ->
                    op = UpdateOp.unlink(new UnlinkOp(parent, name(random), random.nextBoolean()));
            case 5 -> {
                if (files.isEmpty()) {
                    return;
                }
                op =
                        UpdateOp.link(
                                new LinkOp(
                                        files.get(random.nextInt(files.size())),
                                        parent,
                                        name(random)));
            }
            default -> {
                int flags = random.nextInt(4) == 0 ? random.nextInt(3) : 0;
                op =
                        UpdateOp.rename(
                                new RenameOp(
                                        parent,
                                        name(random),
                                        directory(random),
                                        name(random),
                                        flags));
            }
        }
        long session = 1L + random.nextInt(AT_ONCE * 4);
        Command command = rings.command(session, uid, random.nextInt(REGIONS + 1), op);
        // Several commands of a session may be under way: none is answered before it landed.
        command.setAnsweredBelow(1);
        flights.start(command, Partitions.ofBirth(parent));
    }

    private void landed(Command command, UpdateReply reply) {
        if (reply.getErrno() != 0) {
            return;
        }
        if (reply.isSetRemoved()) {
            directories.remove(Long.valueOf(reply.getRemoved()));
        }
        if (command.getOp().isSetCreate()) {
            long ino = reply.getAttributes().getIno();
            boolean directory = Mode.isDirectory(command.getOp().getCreate().getMode());
            List<Long> known = directory ? directories : files;
            known.add(ino);
            if (known.size() > KNOWN) {
                known.remove(1);
            }
        }
    }
}

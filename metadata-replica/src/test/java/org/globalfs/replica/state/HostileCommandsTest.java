package org.globalfs.replica.state;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.globalfs.protocol.wire.Attributes;
import org.globalfs.protocol.wire.Command;
import org.globalfs.protocol.wire.CreateOp;
import org.globalfs.protocol.wire.Credentials;
import org.globalfs.protocol.wire.DecideOp;
import org.globalfs.protocol.wire.ReadRequest;
import org.globalfs.protocol.wire.SetAttributesOp;
import org.globalfs.protocol.wire.Status;
import org.globalfs.protocol.wire.UpdateOp;
import org.globalfs.protocol.wire.UpdateReply;
import org.globalfs.replica.state.check.CheckReport;
import org.globalfs.replica.state.model.Partitions;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Whatever a client may send is executed by all replicas of a partition, and again after each
 * start: nothing that a command says may throw, and none may leave records that contradict each
 * other.
 */
final class HostileCommandsTest {

    private static final int REGIONS = 2;
    private static final int NEW_SEEDS = Integer.getInteger("globalfs.hostile.seeds", 1);
    private static final int COMMANDS = 900;

    /** What clients may send. */
    private static final Set<UpdateOp._Fields> KINDS =
            EnumSet.of(
                    UpdateOp._Fields.CREATE,
                    UpdateOp._Fields.UNLINK,
                    UpdateOp._Fields.RENAME,
                    UpdateOp._Fields.LINK,
                    UpdateOp._Fields.SET_ATTRIBUTES,
                    UpdateOp._Fields.RENEW_SESSION,
                    UpdateOp._Fields.LOCK,
                    UpdateOp._Fields.MOVE,
                    UpdateOp._Fields.WRITE,
                    UpdateOp._Fields.ALLOCATE,
                    UpdateOp._Fields.COPY_RANGE,
                    UpdateOp._Fields.COMPACT,
                    UpdateOp._Fields.SET_XATTR,
                    UpdateOp._Fields.REMOVE_XATTR,
                    UpdateOp._Fields.SET_QUOTA);

    @TempDir Path folder;

    private final List<Long> inodes = new ArrayList<>();
    private final List<Long> directories = new ArrayList<>();

    /** One that has found something, and as many new ones as are asked for. */
    static List<Long> seeds() {
        List<Long> seeds = new ArrayList<>(List.of(-1561711252491116883L));
        for (int i = 0; i < NEW_SEEDS; i++) {
            seeds.add(System.nanoTime() + i);
        }
        return seeds;
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void noneThrowsOrLeavesContradictions(long seed) {
        Random random = new Random(seed);
        HostileStructs structs = new HostileStructs(random, inodes, directories);
        inodes.add(Partitions.ROOT);
        directories.add(Partitions.ROOT);
        try (Rings rings = new Rings(folder, REGIONS)) {
            rings.run(
                    0,
                    rings.command(
                            9,
                            0,
                            0,
                            UpdateOp.setAttributes(
                                    new SetAttributesOp(Partitions.ROOT).setMode(01777))));
            for (int step = 0; step < COMMANDS; step++) {
                double strange = random.nextInt(3) == 0 ? 0.2 : random.nextInt(2) * 0.03;
                // A session that has said that it ended is answered no more.
                long session = 10L + step / 20;
                step(rings, random, session, structs, strange, seed + ", command " + step);
                if (step % 300 == 299) {
                    compare(rings, seed + ", command " + step);
                }
            }
        }
    }

    private void step(
            Rings rings,
            Random random,
            long session,
            HostileStructs structs,
            double strange,
            String where) {
        Command command = structs.fill(new Command(), strange).setSession(session);
        while (!KINDS.contains(command.getOp().getSetField())) {
            command.setOp(structs.fill(new UpdateOp(), strange));
        }
        command =
                rings.anew(command)
                        .setAnsweredBelow(random.nextBoolean() ? 0 : command.getSequence());
        if (random.nextInt(4) == 0) {
            command.setOp(UpdateOp.create(structs.fill(new CreateOp(), strange)));
        }
        int partition = random.nextInt(REGIONS + 1);
        command.setOrigin(random.nextInt(REGIONS + 1));
        if (random.nextBoolean()) {
            command.setCredentials(new Credentials(0, 0));
        }
        if (command.isSetParticipants()) {
            command.setParticipants(
                    command.getParticipants().stream()
                            .map(p -> Math.floorMod(p, REGIONS + 1))
                            .toList());
        }
        if (command.getOp().isSetMove()) {
            command.getOp().getMove().setTo(random.nextInt(REGIONS + 1));
        }
        try {
            UpdateReply reply = deliver(rings, random, partition, command);
            if (reply != null && reply.isSetAttributes()) {
                Attributes made = reply.getAttributes();
                inodes.add(made.getIno());
                if ((made.getMode() & 0170000) == 0040000) {
                    directories.add(made.getIno());
                }
            }
            ReadRequest request = structs.fill(new ReadRequest(), strange);
            rings.state(random.nextInt(REGIONS + 1)).read(request);
        } catch (RuntimeException | Error e) {
            throw new AssertionError("seed " + where + ": " + command, e);
        }
    }

    /** As a client does, without waiting always. */
    private static @Nullable UpdateReply deliver(
            Rings rings, Random random, int partition, Command command) {
        int at = partition;
        Command sent = command;
        UpdateReply reply = null;
        for (int attempt = 0; attempt < 3; attempt++) {
            rings.deliver(at, List.of(rings.stamped(sent)));
            if (random.nextInt(4) > 0) {
                settle(rings);
            }
            reply = rings.takeReply(sent);
            if (reply == null || reply.getStatus() != Status.ESCALATE) {
                return reply;
            }
            Escalation next = Escalation.of(sent, reply);
            at = next.partition();
            sent = next.command();
            if (at < 0 || at > REGIONS) {
                return reply;
            }
        }
        return reply;
    }

    /** As replicas do; what waits for the vote of a partition that nobody holds is given up. */
    private static void settle(Rings rings) {
        for (int round = 0; round < 8; round++) {
            for (int partition = 0; partition <= REGIONS; partition++) {
                if (partition > 0) {
                    rings.importInto(partition);
                    rings.vote(partition);
                }
                rings.deliverNotices(partition);
            }
        }
        for (PendingTransaction open : rings.state(0).pendingTransactions()) {
            rings.internal(0, UpdateOp.decide(new DecideOp(open.transaction())));
        }
        for (int partition = 1; partition <= REGIONS; partition++) {
            rings.importInto(partition);
        }
    }

    private static void compare(Rings rings, String where) {
        settle(rings);
        for (int partition = 0; partition <= REGIONS; partition++) {
            CheckReport report = rings.state(partition).check().report();
            assertThat(report.findings).as("seed %s, partition %s", where, partition).isEmpty();
            StateHash before = rings.state(partition).hash();
            rings.crash(partition);
            assertThat(HexFormat.of().formatHex(rings.state(partition).hash().digest()))
                    .as(where)
                    .isEqualTo(HexFormat.of().formatHex(before.digest()));
        }
    }
}

package org.globalfs.replica.state;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import org.globalfs.multicast.Entry;
import org.globalfs.protocol.Errno;
import org.globalfs.protocol.wire.CollectOrphansOp;
import org.globalfs.protocol.wire.Command;
import org.globalfs.protocol.wire.ConfirmImportsOp;
import org.globalfs.protocol.wire.CreateOp;
import org.globalfs.protocol.wire.DecideOp;
import org.globalfs.protocol.wire.LinkOp;
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

/**
 * Operations that several partitions have to agree on, step by step, with crashes between the
 * steps.
 */
final class CoordinationTest {

    @TempDir Path folder;

    private Rings rings;
    private long west;
    private long east;

    @BeforeEach
    void open() {
        rings = new Rings(folder, 2);
        west = directory(Partitions.ROOT, "west", 1);
        east = directory(Partitions.ROOT, "east", 2);
    }

    @AfterEach
    void close() {
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
        return done(Partitions.ofBirth(parent), rings.command(7, 0, origin, UpdateOp.create(op)))
                .getAttributes()
                .getIno();
    }

    private UpdateReply done(int partition, Command command) {
        UpdateReply reply = rings.run(partition, command);
        assertThat(reply.getErrno()).isZero();
        return reply;
    }

    private Command rename(long from, String name, long to, String newName) {
        RenameOp op = new RenameOp(from, name(name), to, name(newName), 0);
        return rings.command(8, 0, 1, UpdateOp.rename(op));
    }

    private void submit(int partition, Command command) {
        rings.deliver(partition, List.of(rings.stamped(command)));
    }

    private boolean exists(long parent, String name) {
        return rings.state(Partitions.ofBirth(parent)).child(parent, name.getBytes(UTF_8)) != null;
    }

    private Command escalated(int partition, Command command) {
        submit(partition, command);
        UpdateReply reply = Objects.requireNonNull(rings.reply(command));
        assertThat(reply.getStatus()).isEqualTo(Status.ESCALATE);
        Escalation next = Escalation.of(command, reply);
        assertThat(next.partition()).isZero();
        return next.command();
    }

    /** Whatever crashes after whichever step, the rename happens once and whole. */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
    void survivesCrashesBetweenSteps(long seed) {
        System.out.println("coordination with crashes: seed " + seed);
        Random random = new Random(seed);
        create(west, "f", 0100644, 1);
        create(east, "old", 0100644, 2);
        Command command = rename(west, "f", east, "old");
        Command sent = escalated(1, command);
        UpdateReply reply = null;
        for (int attempt = 0;
                attempt < 20 && (reply == null || reply.getStatus() != Status.DONE);
                attempt++) {
            submit(0, sent);
            if (random.nextBoolean()) {
                submit(0, sent);
            }
            maybeCrash(random);
            for (int partition : List.of(1, 2)) {
                rings.importInto(partition);
                maybeCrash(random);
                rings.vote(partition);
                rings.vote(partition);
                maybeCrash(random);
            }
            reply = rings.reply(command);
            if (reply != null && reply.getStatus() == Status.ESCALATE) {
                sent = Escalation.of(sent, reply).command();
            }
        }
        rings.settle();
        submit(0, sent);
        assertThat(Objects.requireNonNull(rings.reply(command)).getErrno()).isZero();
        assertThat(exists(west, "f")).isFalse();
        assertThat(exists(east, "old")).isTrue();
        assertThat(rings.state(2).orphans()).isEqualTo(1);
        assertThat(rings.state(0).pendingTransactions()).isEmpty();
        assertThat(rings.state(1).pendingVotes()).isEmpty();
        assertThat(rings.state(2).pendingVotes()).isEmpty();
    }

    private void maybeCrash(Random random) {
        int partition = random.nextInt(6);
        if (partition < 3) {
            byte[] before = rings.state(partition).hash().digest();
            if (random.nextBoolean()) {
                rings.state(partition).flush();
            }
            rings.crash(partition);
            assertThat(rings.state(partition).hash().digest()).isEqualTo(before);
        }
    }

    @Test
    void whatIsPreparedIsLockedUntilTheDecision() {
        create(west, "f", 0100644, 1);
        Command rename = rename(west, "f", Partitions.ROOT, "g");
        submit(0, escalated(1, rename));
        rings.importInto(1);
        Command unlink =
                rings.command(9, 0, 1, UpdateOp.unlink(new UnlinkOp(west, name("f"), false)));
        submit(1, unlink);
        assertThat(Objects.requireNonNull(rings.reply(unlink)).getStatus()).isEqualTo(Status.RETRY);
        Command create =
                rings.command(9, 0, 0, UpdateOp.create(new CreateOp(1, name("g"), 0100644)));
        submit(0, create);
        assertThat(Objects.requireNonNull(rings.reply(create)).getStatus()).isEqualTo(Status.RETRY);
        rings.settle();
        submit(1, unlink);
        assertThat(Objects.requireNonNull(rings.reply(unlink)).getErrno())
                .isEqualTo(Errno.ENOENT.number());
        submit(0, create);
        assertThat(Objects.requireNonNull(rings.reply(create)).getErrno())
                .isEqualTo(Errno.EEXIST.number());
    }

    @Test
    void aTimeOutAbortsAndLateVotesChangeNothing() {
        create(west, "f", 0100644, 1);
        Command rename = rename(west, "f", Partitions.ROOT, "g");
        Command sent = escalated(1, rename);
        submit(0, sent);
        long transaction = rings.state(0).pendingTransactions().getFirst().transaction();
        assertThat(rings.state(0).pendingTransactions().getFirst().missingVotes())
                .containsExactly(1);
        rings.internal(0, UpdateOp.decide(new DecideOp(transaction)));
        assertThat(Objects.requireNonNull(rings.reply(rename)).getStatus()).isEqualTo(Status.RETRY);
        deliverOneImport();
        assertThat(rings.state(1).pendingVotes()).hasSize(1);
        rings.vote(1);
        rings.settle();
        assertThat(rings.state(1).pendingVotes()).isEmpty();
        assertThat(exists(west, "f")).isTrue();
        assertThat(exists(Partitions.ROOT, "g")).isFalse();
        submit(0, sent);
        rings.settle();
        assertThat(Objects.requireNonNull(rings.reply(rename)).getErrno()).isZero();
        assertThat(exists(Partitions.ROOT, "g")).isTrue();
    }

    private void deliverOneImport() {
        long next = rings.state(0).nextConcerning(1, rings.state(1).importedThrough());
        rings.deliver(1, List.of(new Entry.Import(next)));
    }

    @Test
    void noCycleArisesBesideALocalMove() {
        long a = directory(west, "a", 1);
        long b = directory(a, "b", 1);
        long outer = directory(Partitions.ROOT, "outer", 1);
        Command in = rename(Partitions.ROOT, "outer", b, "in");
        submit(0, in);
        rings.importInto(1);
        Command local =
                rings.command(
                        9,
                        0,
                        1,
                        UpdateOp.rename(new RenameOp(west, name("a"), outer, name("a"), 0)));
        submit(1, local);
        assertThat(Objects.requireNonNull(rings.reply(local)).getStatus()).isEqualTo(Status.RETRY);
        rings.settle();
        assertThat(Objects.requireNonNull(rings.reply(in)).getErrno()).isZero();
        submit(1, local);
        assertThat(Objects.requireNonNull(rings.reply(local)).getErrno())
                .isEqualTo(Errno.EINVAL.number());
        UpdateReply self = rings.run(1, rename(west, "a", b, "x"));
        assertThat(self.getErrno()).isEqualTo(Errno.EINVAL.number());
    }

    @Test
    void rmdirOfAFringeDirectoryNeedsItEmptyAndKeepsItSo() {
        create(west, "f", 0100644, 1);
        Command rmdir =
                rings.command(9, 0, 1, UpdateOp.unlink(new UnlinkOp(1, name("west"), true)));
        assertThat(rings.run(0, rmdir).getErrno()).isEqualTo(Errno.ENOTEMPTY.number());
        done(1, rings.command(9, 0, 1, UpdateOp.unlink(new UnlinkOp(west, name("f"), false))));
        Command again =
                rings.command(9, 0, 1, UpdateOp.unlink(new UnlinkOp(1, name("west"), true)));
        submit(0, again);
        rings.importInto(1);
        Command create =
                rings.command(9, 0, 1, UpdateOp.create(new CreateOp(west, name("g"), 0100644)));
        submit(1, create);
        assertThat(Objects.requireNonNull(rings.reply(create)).getStatus()).isEqualTo(Status.RETRY);
        rings.settle();
        assertThat(Objects.requireNonNull(rings.reply(again)).getErrno()).isZero();
        submit(1, create);
        assertThat(Objects.requireNonNull(rings.reply(create)).getErrno())
                .isEqualTo(Errno.ENOENT.number());
    }

    @Test
    void aLinkedFileIsNotCollectedBeforeTheDecision() {
        long file = create(west, "f", 0100644, 1);
        Command link =
                rings.command(9, 0, 1, UpdateOp.link(new LinkOp(file, Partitions.ROOT, name("l"))));
        submit(0, link);
        rings.importInto(1);
        done2(rings.command(9, 0, 1, UpdateOp.unlink(new UnlinkOp(west, name("f"), false))));
        rings.passMs(3_600_000);
        rings.internal(1, UpdateOp.collectOrphans(new CollectOrphansOp(10)));
        assertThat(rings.state(1).orphans()).isEqualTo(1);
        rings.settle();
        assertThat(Objects.requireNonNull(rings.reply(link)).getErrno()).isZero();
        assertThat(rings.state(1).orphans()).isZero();
        assertThat(exists(Partitions.ROOT, "l")).isTrue();
    }

    /** Without settling, which would let the other operation's votes through. */
    private void done2(Command command) {
        submit(1, command);
        assertThat(Objects.requireNonNull(rings.reply(command)).getErrno()).isZero();
    }

    @Test
    void forgottenVerdictsAreMissedLoudly() {
        directory(Partitions.ROOT, "more", 1);
        long imported = rings.state(1).importedThrough();
        submit(
                0,
                rings.command(
                        9,
                        0,
                        1,
                        UpdateOp.create(new CreateOp(1, name("late"), Mode.DIRECTORY | 0755))));
        for (int i = 0; i < 10_050; i++) {
            rings.deliver(0, List.of(new Entry.Noop()));
        }
        rings.internal(0, UpdateOp.confirmImports(new ConfirmImportsOp(1, imported)));
        assertThat(rings.state(0).trimmedThrough(1)).isEqualTo(imported);
        assertThat(rings.state(0).nextConcerning(1, 0)).isGreaterThan(imported);
        assertThat(rings.importInto(1)).isTrue();
        rings.state(1).flush();
        byte[] before = rings.state(1).hash().digest();
        rings.crash(1);
        assertThat(rings.state(1).hash().digest()).isEqualTo(before);
        try (PartitionState fresh = PartitionState.open(folder.resolve("fresh"), 1, Rings.SMALL)) {
            Rings.Instance first = rings.log(1).getFirst();
            assertThatThrownBy(() ->
                            fresh.deliver(
                                    first.number(),
                                    first.entries(),
                                    rings.state(0),
                                    (s, q, r) -> {}))
                    .isInstanceOf(VerdictsTrimmedException.class);
            assertThat(fresh.applied()).isZero();
        }
    }
}

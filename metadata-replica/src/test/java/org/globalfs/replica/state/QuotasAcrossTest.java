package org.globalfs.replica.state;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import org.globalfs.protocol.Errno;
import org.globalfs.protocol.wire.AdoptQuotaOp;
import org.globalfs.protocol.wire.Command;
import org.globalfs.protocol.wire.CreateOp;
import org.globalfs.protocol.wire.LinkOp;
import org.globalfs.protocol.wire.MoveOp;
import org.globalfs.protocol.wire.Quota;
import org.globalfs.protocol.wire.QuotaOp;
import org.globalfs.protocol.wire.ReadOp;
import org.globalfs.protocol.wire.RenameOp;
import org.globalfs.protocol.wire.SetQuotaOp;
import org.globalfs.protocol.wire.SetXattrOp;
import org.globalfs.protocol.wire.Status;
import org.globalfs.protocol.wire.UpdateOp;
import org.globalfs.protocol.wire.UpdateReply;
import org.globalfs.replica.state.model.Mode;
import org.globalfs.replica.state.model.Partitions;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What happens to a tree with a quota while a name goes into it or out of it across partitions. */
final class QuotasAcrossTest {

    private static final int FILE = Mode.REGULAR | 0644;
    private static final int DIRECTORY = Mode.DIRECTORY | 0755;

    @TempDir Path folder;

    private Rings rings;

    /** Of partition 0, with a quota of two inodes that counts itself. */
    private long global;

    /** Of partition 1. */
    private long region;

    @BeforeEach
    void begin() {
        rings = new Rings(folder, 2);
        region = made(Partitions.ROOT, "region", DIRECTORY);
        place("inherit");
        global = made(Partitions.ROOT, "global", DIRECTORY);
        place("creator");
        limit(global, 2);
    }

    @AfterEach
    void end() {
        for (int partition = 0; partition <= 2; partition++) {
            rings.settle();
            assertThat(rings.state(partition).check().report().findings).isEmpty();
        }
        rings.close();
    }

    private UpdateReply run(long ino, UpdateOp op) {
        return rings.run(rings.home(ino), rings.command(1, 0, 1, op));
    }

    private static ByteBuffer bytes(String text) {
        return ByteBuffer.wrap(text.getBytes(UTF_8));
    }

    private static UpdateOp create(long parent, String name, int mode) {
        return UpdateOp.create(new CreateOp(parent, bytes(name), mode));
    }

    private static UpdateOp rename(long from, String name, long to) {
        return UpdateOp.rename(new RenameOp(from, bytes(name), to, bytes(name), 0));
    }

    private long made(long parent, String name, int mode) {
        UpdateReply reply = run(parent, create(parent, name, mode));
        assertThat(reply.getErrno()).isZero();
        return reply.getAttributes().getIno();
    }

    private void place(String where) {
        SetXattrOp op =
                new SetXattrOp(Partitions.ROOT, bytes("user.globalfs.placement"), bytes(where));
        assertThat(run(Partitions.ROOT, UpdateOp.setXattr(op)).getErrno()).isZero();
    }

    private void limit(long directory, int inodes) {
        SetQuotaOp op = new SetQuotaOp(directory).setInodes(inodes);
        assertThat(run(directory, UpdateOp.setQuota(op)).getErrno()).isZero();
    }

    private Quota quota(long directory) {
        ReadOp op = ReadOp.quota(new QuotaOp().setIno(directory));
        return rings.readAt(directory, 0, op).getQuotas().getFirst();
    }

    /** Ordered in ring 0, and prepared in partition 1, which does not vote yet. */
    private Command prepared(long from, UpdateOp op) {
        Command command = rings.command(2, 0, 1, op);
        int home = rings.home(from);
        if (home != 0) {
            rings.deliver(home, List.of(rings.stamped(command)));
            UpdateReply reply = rings.takeReply(command);
            assertThat(reply.getStatus()).isEqualTo(Status.ESCALATE);
            command = Escalation.of(command, reply).command();
        }
        rings.deliver(0, List.of(rings.stamped(command)));
        if (home == 0) {
            UpdateReply reply = rings.takeReply(command);
            if (reply != null) {
                assertThat(reply.getStatus()).isEqualTo(Status.ESCALATE);
                command = Escalation.of(command, reply).command();
                rings.deliver(0, List.of(rings.stamped(command)));
            }
        }
        assertThat(rings.state(0).pendingTransactions()).hasSize(1);
        rings.importInto(1);
        return command;
    }

    private Status tried(int partition, UpdateOp op) {
        Command command = rings.command(3, 0, 1, op);
        rings.deliver(partition, List.of(rings.stamped(command)));
        return rings.takeReply(command).getStatus();
    }

    @Test
    void roomThatIsGoneAtTheDecisionIsNotUsedTwice() {
        made(global, "f", FILE);
        assertThat(run(global, rename(global, "f", region)).getErrno()).isZero();
        assertThat(quota(global).getUsedInodes()).isEqualTo(1);
        Command back = prepared(region, rename(region, "f", global));
        assertThat(tried(0, create(global, "other", FILE))).isEqualTo(Status.DONE);
        rings.settle();
        assertThat(rings.takeReply(back).getErrno()).isEqualTo(Errno.EDQUOT.number());
        assertThat(quota(global).getUsedInodes()).isEqualTo(2);
        UpdateOp again = UpdateOp.create(new CreateOp(region, bytes("f"), FILE).setExclusive(true));
        assertThat(run(region, again).getErrno()).as("it stayed").isEqualTo(Errno.EEXIST.number());
    }

    @Test
    void aFileThatIsAboutToLeaveGetsNoOtherName() {
        long file = made(global, "f", FILE);
        Command away = prepared(global, rename(global, "f", region));
        UpdateOp link = UpdateOp.link(new LinkOp(file, global, bytes("second")));
        assertThat(tried(0, link)).isEqualTo(Status.RETRY);
        rings.settle();
        assertThat(rings.takeReply(away).getErrno()).isZero();
        assertThat(quota(global).getUsedInodes()).isEqualTo(1);
    }

    @Test
    void aDirectoryThatIsAboutToLeaveStaysEmpty() {
        long directory = made(global, "d", DIRECTORY);
        Command away = prepared(global, rename(global, "d", region));
        assertThat(tried(0, create(directory, "f", FILE))).isEqualTo(Status.RETRY);
        assertThat(tried(0, UpdateOp.setQuota(new SetQuotaOp(directory).setInodes(5))))
                .isEqualTo(Status.RETRY);
        rings.settle();
        assertThat(rings.takeReply(away).getErrno()).isZero();
        assertThat(quota(global).getUsedInodes()).isEqualTo(1);
        made(directory, "f", FILE);
        assertThat(quota(global).getUsedInodes()).isEqualTo(1);
    }

    @Test
    void aTreeWithAQuotaOfItsOwnTakesItsUsageAlong() {
        limit(global, 5);
        long directory = made(global, "d", DIRECTORY);
        limit(directory, 3);
        made(directory, "f", FILE);
        assertThat(run(global, rename(global, "d", region)).getErrno()).isZero();
        limit(global, 2);
        made(directory, "g", FILE);
        Quota own = quota(directory);
        assertThat(own.getUsedInodes()).isEqualTo(3);
        assertThat(own.getParent()).isZero();
        assertThat(run(region, rename(region, "d", global)).getErrno())
                .isEqualTo(Errno.EDQUOT.number());
        limit(global, 4);
        assertThat(run(region, rename(region, "d", global)).getErrno()).isZero();
        assertThat(rings.read(0, 0, ReadOp.quota(new QuotaOp().setIno(directory))).getQuotas())
                .extracting(Quota::getUsedInodes)
                .containsExactly(3L, 4L);
    }

    @Test
    void aRenameWithinADirectoryIsNoQuestionOfRoom() {
        limit(global, 0);
        made(global, "f", FILE);
        made(region, "g", FILE);
        assertThat(run(region, rename(region, "g", global)).getErrno()).isZero();
        limit(global, 1);
        RenameOp over = new RenameOp(global, bytes("f"), global, bytes("g"), 0);
        assertThat(run(global, UpdateOp.rename(over)).getErrno()).isZero();
        assertThat(quota(global).getUsedInodes()).as("not counted yet").isEqualTo(1);
        rings.internal(0, UpdateOp.adoptQuota(new AdoptQuotaOp(100)));
        assertThat(quota(global).getUsedInodes()).isEqualTo(2);
    }

    @Test
    void whatArrivesInAFullTreeIsCountedBeyondItsLimit() {
        long file = made(region, "f", FILE);
        long directory = made(region, "d", DIRECTORY);
        made(directory, "g", FILE);
        assertThat(run(region, rename(region, "f", global)).getErrno()).isZero();
        assertThat(run(region, rename(region, "d", global)).getErrno()).isZero();
        assertThat(quota(global).getUsedInodes()).as("nothing of it").isEqualTo(1);
        MoveOp op = new MoveOp(List.of(file, directory), 0);
        assertThat(run(Partitions.ROOT, UpdateOp.move(op)).getDone()).isEqualTo(3);
        assertThat(quota(global).isCounting()).isTrue();
        rings.internal(0, UpdateOp.adoptQuota(new AdoptQuotaOp(100)));
        assertThat(quota(global).isCounting()).isFalse();
        assertThat(quota(global).getUsedInodes()).isEqualTo(4);
        assertThat(run(global, create(global, "more", FILE)).getErrno())
                .isEqualTo(Errno.EDQUOT.number());
    }
}

package org.globalfs.replica.state;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import org.globalfs.multicast.Entry;
import org.globalfs.protocol.Errno;
import org.globalfs.protocol.wire.CollectOrphansOp;
import org.globalfs.protocol.wire.Command;
import org.globalfs.protocol.wire.CreateOp;
import org.globalfs.protocol.wire.Extent;
import org.globalfs.protocol.wire.GetAttributesOp;
import org.globalfs.protocol.wire.ReadOp;
import org.globalfs.protocol.wire.RenameOp;
import org.globalfs.protocol.wire.RenewSessionOp;
import org.globalfs.protocol.wire.Status;
import org.globalfs.protocol.wire.UnlinkOp;
import org.globalfs.protocol.wire.UpdateOp;
import org.globalfs.protocol.wire.UpdateReply;
import org.globalfs.protocol.wire.WriteOp;
import org.globalfs.replica.state.model.Mode;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A command takes effect once, however often and wherever it is delivered. */
final class ExactlyOnceTest {

    @TempDir Path folder;

    private Rings rings;

    @BeforeEach
    void open() {
        rings = new Rings(folder, 1);
    }

    @AfterEach
    void close() {
        rings.close();
    }

    private static ByteBuffer name(String text) {
        return ByteBuffer.wrap(text.getBytes(UTF_8));
    }

    private UpdateReply submit(int partition, Command command) {
        rings.deliver(partition, List.of(rings.stamped(command)));
        return Objects.requireNonNull(rings.reply(command));
    }

    private Command create(long parent, String name, int mode) {
        return rings.command(4, 0, 1, UpdateOp.create(new CreateOp(parent, name(name), mode)));
    }

    private static Command append(Rings rings, long ino) {
        Extent extent = new Extent(0, 3);
        extent.setData("abc".getBytes(UTF_8));
        return rings.command(
                4, 0, 1, UpdateOp.write(new WriteOp(ino, List.of(extent)).setAppend(true)));
    }

    private long size(long ino) {
        return rings.read(0, 0, ReadOp.getAttributes(new GetAttributesOp(ino)))
                .getAttributes()
                .getSize();
    }

    @Test
    void duplicatesInOneInstanceAndAfterACrash() {
        long ino = submit(0, create(1, "f", Mode.REGULAR | 0644)).getAttributes().getIno();
        Command append = append(rings, ino);
        Entry first = rings.stamped(append);
        rings.deliver(0, List.of(first, rings.stamped(append), first));
        assertThat(size(ino)).isEqualTo(3);
        rings.state(0).flush();
        rings.crash(0);
        UpdateReply again = submit(0, append);
        assertThat(again.getOffset()).isZero();
        assertThat(again.getErrno()).isZero();
        assertThat(size(ino)).isEqualTo(3);
    }

    @Test
    void whatTheClientHasAnsweredIsForgottenAndNotRepeated() {
        long ino = submit(0, create(1, "f", Mode.REGULAR | 0644)).getAttributes().getIno();
        Command append = append(rings, ino);
        submit(0, append);
        Command later = append(rings, ino);
        later.setAnsweredBelow(later.getSequence());
        submit(0, later);
        assertThat(size(ino)).isEqualTo(6);
        assertThat(submit(0, append).getErrno()).isEqualTo(Errno.ESTALE.number());
        assertThat(size(ino)).isEqualTo(6);
        assertThat(submit(0, later).getErrno()).isZero();
    }

    @Test
    void aCommandHandedOverIsPartitionZerosForGood() {
        long west = rings.run(0, create(1, "west", Mode.DIRECTORY | 0755)).getAttributes().getIno();
        rings.run(1, create(west, "f", Mode.REGULAR | 0644));
        RenameOp out = new RenameOp(west, name("f"), 1, name("g"), 0);
        rings.run(1, rings.command(4, 0, 1, UpdateOp.rename(out)));
        RenameOp back = new RenameOp(1, name("g"), west, name("f"), 0);
        rings.run(0, rings.command(4, 0, 1, UpdateOp.rename(back)));
        // A file of partition 0 with a name in west: its unlink is partition 0's business.
        rings.run(0, create(1, "top", Mode.REGULAR | 0644));
        rings.run(
                0,
                rings.command(
                        4,
                        0,
                        1,
                        UpdateOp.rename(new RenameOp(1, name("top"), west, name("n"), 0))));
        Command unlink =
                rings.command(4, 0, 1, UpdateOp.unlink(new UnlinkOp(west, name("n"), false)));
        assertThat(rings.run(1, unlink).getErrno()).isZero();
        CreateOp again = new CreateOp(west, name("n"), Mode.REGULAR | 0644);
        rings.run(1, rings.command(6, 0, 1, UpdateOp.create(again)));
        assertThat(submit(1, unlink).getStatus()).isEqualTo(Status.ESCALATE);
        assertThat(rings.run(1, unlink).getErrno()).isZero();
        assertThat(rings.state(1).child(west, "n".getBytes(UTF_8))).isNotNull();
    }

    @Test
    void anEndedSessionExecutesNothingMore() {
        Command late = create(1, "late", Mode.REGULAR | 0644);
        Command end =
                rings.command(
                        4,
                        0,
                        1,
                        UpdateOp.renewSession(new RenewSessionOp(List.of()).setEnded(true)));
        assertThat(submit(0, end).getErrno()).isZero();
        assertThat(submit(0, end).getErrno()).isZero();
        assertThat(submit(0, late).getErrno()).isEqualTo(Errno.ESTALE.number());
        assertThat(rings.state(0).sessions()).isEqualTo(1);
        rings.passMs(25 * 3_600_000L);
        rings.internal(0, UpdateOp.collectOrphans(new CollectOrphansOp(1)));
        assertThat(rings.state(0).sessions()).isZero();
        byte[] before = rings.state(0).hash().digest();
        rings.crash(0);
        assertThat(rings.state(0).hash().digest()).isEqualTo(before);
        assertThat(rings.state(0).sessions()).isZero();
    }

    /** Replicas that were stopped at different places of a log must agree on the rest of it. */
    @Test
    void anOldLogsCommandsForgetSessionsAsTheyDidThen() {
        CollectOrphansOp old = new CollectOrphansOp(1).setBefore(Long.MIN_VALUE);
        submit(0, rings.command(4, 0, 1, create(1, "d", Mode.DIRECTORY | 0755).getOp()));
        assertThat(rings.state(0).sessions()).isEqualTo(1);
        rings.passMs(31 * 24 * 3_600_000L);
        rings.internal(0, UpdateOp.collectOrphans(new CollectOrphansOp(old).setSilence(false)));
        rings.internal(0, UpdateOp.collectOrphans(new CollectOrphansOp(old).setSilence(true)));
        assertThat(rings.state(0).sessions()).as("a time that jumped").isEqualTo(1);
        long measured = rings.state(0).silenceTime();
        rings.internal(0, UpdateOp.collectOrphans(old));
        assertThat(rings.state(0).sessions()).isZero();
        assertThat(rings.state(0).silenceTime()).isEqualTo(measured);
    }

    @Test
    void nonsenseIsSkipped() {
        rings.deliver(0, List.of(new Entry.Command(1, new byte[] {1, 2, 3}, new int[0])));
        rings.deliver(0, List.of(new Entry.Command(2, new byte[0], new int[0]), new Entry.Noop()));
        assertThat(rings.state(0).applied()).isEqualTo(2);
    }
}

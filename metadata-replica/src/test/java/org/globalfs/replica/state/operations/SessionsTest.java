package org.globalfs.replica.state.operations;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.globalfs.protocol.wire.FileLock;
import org.globalfs.protocol.wire.LockKind;
import org.globalfs.protocol.wire.LockOp;
import org.globalfs.protocol.wire.LockType;
import org.globalfs.protocol.wire.RenewSessionOp;
import org.globalfs.protocol.wire.Status;
import org.globalfs.protocol.wire.UpdateReply;
import org.globalfs.replica.state.model.Counters;
import org.globalfs.replica.state.model.Inode;
import org.globalfs.replica.state.model.Keys;
import org.globalfs.replica.state.model.Mode;
import org.globalfs.replica.state.model.Partitions;
import org.globalfs.replica.state.model.Table;
import org.junit.jupiter.api.Test;

/** Leases of sessions, and their row in both of its formats. */
final class SessionsTest {

    private static final long SECOND_NS = 1_000_000_000L;

    private final MemoryRecords records = new MemoryRecords();

    @Test
    void theRowOfBeforeLeasesIsRead() {
        // format, time 2 s, not ended, two inodes
        byte[] row =
                HexFormat.of()
                        .parseHex(
                                "01"
                                        + "0000000077359400"
                                        + "00"
                                        + "02"
                                        + "0001000000000005"
                                        + "0001000000000006");
        records.put(Table.SESSION, Keys.of(7), row);
        Sessions sessions = new Sessions(records);
        assertThat(sessions.claims(2 * SECOND_NS))
                .containsExactlyInAnyOrder(0x0001000000000005L, 0x0001000000000006L);
        assertThat(sessions.claims(123 * SECOND_NS)).isEmpty();
        assertThat(sessions.claims()).hasSize(2);
        assertThat(sessions.isLeased(7)).isTrue();
        assertThat(sessions.leases()).containsExactly(new Sessions.Lease(7, 2 * SECOND_NS, 60_000));
    }

    @Test
    void theRowIsWrittenAsDocumented() {
        Sessions sessions = new Sessions(records);
        RenewSessionOp op = new RenewSessionOp(List.of(6L, 5L)).setLeaseMs(8_000);
        assertThat(sessions.renew(7, op, 2 * SECOND_NS)).isZero();
        assertThat(sessions.lapse(7, 2 * SECOND_NS)).isTrue();
        assertThat(sessions.renew(7, op, 3 * SECOND_NS)).isEqualTo(1);
        assertThat(Objects.requireNonNull(records.get(Table.SESSION, Keys.of(7))))
                .isEqualTo(
                        HexFormat.of()
                                .parseHex(
                                        "0200000000b2d05e0000c03e0102"
                                                + "0000000000000005"
                                                + "0000000000000006"));
        assertThat(new Sessions(records).leases()).isEqualTo(sessions.leases());
    }

    @Test
    void aLeasedSessionIsNotForgottenWhateverTheTime() {
        Sessions sessions = new Sessions(records);
        sessions.renew(7, new RenewSessionOp(List.of(5L)).setLeaseMs(8_000), SECOND_NS);
        long later = SECOND_NS + 2 * Sessions.LEASED_EXPIRY_NS;
        assertThat(sessions.expire(later, true)).isEmpty();
        assertThat(sessions.lapse(7, SECOND_NS)).isTrue();
        assertThat(sessions.expire(later, true)).containsExactly(7L);
        assertThat(sessions.isLeased(7)).isFalse();
    }

    /** A machine may sleep for some days: what it then sends counts as from before. */
    @Test
    void aSessionWhoseLeaseRanOutIsRememberedForThirtyDays() {
        Sessions sessions = new Sessions(records);
        sessions.record(7, 3, 3, SECOND_NS, new UpdateReply(Status.DONE, 0));
        sessions.renew(7, new RenewSessionOp(List.of()), SECOND_NS);
        assertThat(sessions.lapse(7, SECOND_NS)).isTrue();
        assertThat(sessions.expire(SECOND_NS + Sessions.LEASED_EXPIRY_NS, true)).isEmpty();
        assertThat(sessions.standing(7, 3)).isEqualTo(Sessions.Standing.RECORDED);
        assertThat(sessions.standing(7, 2)).isEqualTo(Sessions.Standing.FORGOTTEN);
        assertThat(sessions.renew(7, new RenewSessionOp(List.of()), SECOND_NS)).isEqualTo(1);
    }

    /** Its retry must not take effect twice, nor what it wrote under a lost lock overwrite. */
    @Test
    void aClockThatWasWrongOnceHasNoSessionForgotten() {
        long day = 24 * 3_600 * SECOND_NS;
        Counters counters = new Counters(1);
        Tree tree = new Tree(records, counters);
        Inode file = new Inode(Partitions.ino(1, 1));
        file.mode = Mode.REGULAR | 0644;
        file.nlink = 1;
        tree.add(file);
        Sessions sessions = new Sessions(records);
        FileLocks fileLocks = new FileLocks(records, tree, (session, request, state) -> {});
        Content content = new Content(records, counters);
        Orphans orphans =
                new Orphans(counters, records, tree, content, new Locks(), sessions, fileLocks);
        sessions.record(7, 3, 3, SECOND_NS, new UpdateReply(Status.DONE, 0));
        sessions.renew(7, new RenewSessionOp(List.of()), SECOND_NS);
        FileLock lock = new FileLock(1, 1, LockKind.POSIX, LockType.WRITE, 0, 9);
        fileLocks.execute(7, true, new LockOp(file.ino).setLock(lock));
        orphans.lapse(Map.of(7L, SECOND_NS));

        orphans.forgetSessions(SECOND_NS + 31 * day);
        assertThat(sessions.standing(7, 3)).isEqualTo(Sessions.Standing.RECORDED);
        assertThat(fileLocks.isFenced(7, file.ino)).isTrue();

        int hours = 1;
        while (sessions.count() > 0) {
            hours++;
            orphans.forgetSessions(SECOND_NS + 31 * day + hours * 3_600 * SECOND_NS);
        }
        assertThat(hours).isEqualTo(15 * 24 + 1);
        assertThat(fileLocks.isFenced(7, file.ino)).isFalse();
    }

    @Test
    void silenceIsMeasuredByTheTimeWhereThatPassesAsEver() {
        Sessions sessions = new Sessions(records);
        long hour = 3_600 * SECOND_NS;
        assertThat(sessions.silenceTime(0, hour)).as("nobody").isEqualTo(hour);
        sessions.record(7, 1, 1, 50 * hour, new UpdateReply(Status.DONE, 0));
        assertThat(sessions.silenceTime(hour, 51 * hour)).isEqualTo(51 * hour);
        assertThat(sessions.silenceTime(51 * hour, 52 * hour)).isEqualTo(52 * hour);
        assertThat(sessions.silenceTime(52 * hour, 90 * hour)).isEqualTo(54 * hour);
    }

    @Test
    void aSessionThatEndedOrHadNoLeaseIsRememberedForADay() {
        Sessions sessions = new Sessions(records);
        sessions.renew(7, new RenewSessionOp(List.of()).setEnded(true), SECOND_NS);
        sessions.record(8, 1, 1, SECOND_NS, new UpdateReply(Status.DONE, 0));
        assertThat(sessions.expire(SECOND_NS + Sessions.EXPIRY_NS, true)).isEmpty();
        assertThat(sessions.expire(2 * SECOND_NS + Sessions.EXPIRY_NS, true))
                .containsExactlyInAnyOrder(7L, 8L);
    }

    @Test
    void aLeaseLapsesOnceAndOnlyWithoutANewerRenewal() {
        Sessions sessions = new Sessions(records);
        RenewSessionOp op = new RenewSessionOp(List.of(5L)).setLeaseMs(8_000);
        sessions.renew(7, op, SECOND_NS);
        sessions.renew(7, op, 2 * SECOND_NS);
        assertThat(sessions.lapse(7, SECOND_NS)).isFalse();
        assertThat(sessions.claims(3 * SECOND_NS)).containsExactly(5L);
        assertThat(sessions.lapse(7, 2 * SECOND_NS)).isTrue();
        assertThat(sessions.lapse(7, 2 * SECOND_NS)).isFalse();
        assertThat(sessions.claims(3 * SECOND_NS)).isEmpty();
        assertThat(sessions.claims()).isEmpty();
        assertThat(sessions.isLeased(7)).isFalse();
        assertThat(sessions.leases()).isEmpty();
        assertThat(new Sessions(records).isLeased(7)).isFalse();
        sessions.renew(7, new RenewSessionOp(List.of()).setEnded(true), 4 * SECOND_NS);
        assertThat(sessions.isLeased(7)).isFalse();
    }
}

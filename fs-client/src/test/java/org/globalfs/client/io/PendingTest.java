package org.globalfs.client.io;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import org.globalfs.protocol.wire.Attributes;
import org.globalfs.protocol.wire.Credentials;
import org.globalfs.protocol.wire.SetAttributesOp;
import org.junit.jupiter.api.Test;

/** What may leave in one command with what is pending, so that the file ends up the same. */
class PendingTest {

    private static final Credentials ROOT = new Credentials(0, 0);
    private static final Credentials USER = new Credentials(1, 1);
    private static final Credentials OTHER = new Credentials(2, 1);

    private static Pending written(boolean append, Credentials caller) {
        Pending pending = new Pending(append, caller);
        write(pending, 0, 100);
        return pending;
    }

    private static void write(Pending pending, long offset, int count) {
        pending.write(offset, ByteBuffer.allocate(count), buffer -> {});
    }

    private static SetAttributesOp set() {
        return new SetAttributesOp(7);
    }

    @Test
    void onlyTheSameCallersWritesOfOneKindJoin() {
        assertThat(written(false, USER).takesWrite(false, USER)).isTrue();
        assertThat(written(false, USER).takesWrite(true, USER)).isFalse();
        assertThat(written(true, USER).takesWrite(false, USER)).isFalse();
        assertThat(written(false, USER).takesWrite(false, OTHER)).isFalse();
    }

    /** It may take the set-id bits away that were just set; root's does not. */
    @Test
    void aWriteOrTruncationAfterAChmodIsNotJoined() {
        for (Credentials caller : new Credentials[] {ROOT, USER}) {
            Pending pending = written(false, caller);
            pending.set(set().setMode(04755));
            assertThat(pending.takesWrite(false, caller)).isEqualTo(caller.equals(ROOT));
            assertThat(pending.takes(set().setSize(5), caller)).isEqualTo(caller.equals(ROOT));
            assertThat(pending.takes(set().setAtimeNs(5), caller)).isTrue();
        }
    }

    @Test
    void attributesJoinTheirCallersWrites() {
        assertThat(written(false, USER).takesAfterWrites(set().setMode(0600), USER)).isTrue();
        assertThat(written(true, USER).takesAfterWrites(set().setMode(0600), USER)).isTrue();
        assertThat(written(false, USER).takesAfterWrites(set().setMode(0600), OTHER)).isFalse();
        assertThat(new Pending(false, USER).takesAfterWrites(set().setMode(0600), USER)).isFalse();
        // Where the file ends is not known before what is appended is committed.
        assertThat(written(true, USER).takes(set().setSize(5), USER)).isFalse();
    }

    @Test
    void aTruncationTakesAwayWhatWasWrittenBehindIt() {
        Pending pending = written(false, USER);
        write(pending, 1_000, 100);
        pending.set(set().setSize(50));
        assertThat(pending.pieces().end()).isEqualTo(50);
        assertThat(pending.pieces().count()).isEqualTo(1);
    }

    @Test
    void aWriteTakesBackTheTimeThatWasSetBefore() {
        Pending pending = written(false, USER);
        pending.set(set().setMtimeNs(5));
        write(pending, 0, 1);
        assertThat(pending.attributes()).isNull();
        pending.set(set().setMtimeNs(5).setAtimeNs(6));
        write(pending, 0, 1);
        assertThat(pending.attributes()).isEqualTo(set().setAtimeNs(6));
    }

    @Test
    void theFileIsSeenAsItWillBe() {
        Attributes grown = new Attributes().setSize(30).setMode(0100644);
        written(false, USER).overlay(grown);
        assertThat(grown.getSize()).isEqualTo(100);
        Attributes longer = new Attributes().setSize(3_000);
        written(false, USER).overlay(longer);
        assertThat(longer.getSize()).isEqualTo(3_000);
        Attributes appended = new Attributes().setSize(3_000);
        written(true, USER).overlay(appended);
        assertThat(appended.getSize()).isEqualTo(3_100);
        assertThat(appended.getCtimeNs()).isEqualTo(appended.getMtimeNs()).isPositive();
        Pending touched = written(false, USER);
        touched.set(set().setMtimeNs(5).setMode(0600));
        touched.overlay(grown);
        assertThat(grown.getMtimeNs()).isEqualTo(5);
        assertThat(grown.getMode()).isEqualTo(0100600);
    }
}

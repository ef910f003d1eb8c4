package org.globalfs.client.io;

import static org.assertj.core.api.Assertions.assertThat;

import org.globalfs.protocol.wire.Attributes;
import org.globalfs.protocol.wire.SetAttributesOp;
import org.junit.jupiter.api.Test;

/** What attributes come to that are set one after the other, and when they must not be joined. */
class JoinedAttributesTest {

    private static SetAttributesOp set() {
        return new SetAttributesOp(7);
    }

    @Test
    void theLastWordCounts() {
        SetAttributesOp earlier = set().setMode(0600).setUid(1).setMtimeNs(10).setAtimeNs(11);
        SetAttributesOp later = set().setMode(0640).setMtimeNow(true);
        SetAttributesOp both = JoinedAttributes.merged(earlier, later);
        assertThat(both).isEqualTo(set().setMode(0640).setUid(1).setAtimeNs(11).setMtimeNow(true));
        assertThat(JoinedAttributes.merged(both, set().setMtimeNs(12).setAtimeNow(true)))
                .isEqualTo(set().setMode(0640).setUid(1).setMtimeNs(12).setAtimeNow(true));
        assertThat(earlier.getMode()).isEqualTo(0600); // whoever gave it may give it again
    }

    @Test
    void aTruncationSetsTheTimeOfModificationItself() {
        SetAttributesOp times = set().setMtimeNs(10).setAtimeNs(11);
        assertThat(JoinedAttributes.merged(times, set().setSize(5)))
                .isEqualTo(set().setSize(5).setPartly(false).setAtimeNs(11));
        assertThat(JoinedAttributes.merged(set().setSize(5), times))
                .isEqualTo(set().setSize(5).setMtimeNs(10).setAtimeNs(11));
    }

    @Test
    void aWriteLeavesWhatItDoesNotSetItself() {
        assertThat(JoinedAttributes.beforeWrite(set().setMtimeNow(true))).isNull();
        assertThat(JoinedAttributes.beforeWrite(set().setMtimeNs(10).setAtimeNs(11)))
                .isEqualTo(set().setAtimeNs(11));
    }

    @Test
    void chownIsNotJoinedToAChmodBeforeIt() {
        assertThat(JoinedAttributes.join(set().setMode(04755), set().setUid(3))).isFalse();
        assertThat(JoinedAttributes.join(set().setMode(04755), set().setGid(3))).isFalse();
        assertThat(JoinedAttributes.join(set().setUid(3), set().setMode(04755))).isTrue();
        assertThat(JoinedAttributes.join(set().setMtimeNs(10), set().setUid(3))).isTrue();
        assertThat(JoinedAttributes.join(null, set().setUid(3))).isTrue();
    }

    @Test
    void whatSetsNothingIsAChownAndGoesAlone() {
        assertThat(JoinedAttributes.join(null, set())).isFalse();
        assertThat(JoinedAttributes.join(set().setMode(04755), set())).isFalse();
    }

    @Test
    void theKindOfFileStaysWhateverTheMode() {
        Attributes seen = new Attributes().setMode(0100644).setUid(1).setSize(9);
        JoinedAttributes.overlay(seen, set().setMode(04755).setSize(5));
        assertThat(seen).isEqualTo(new Attributes().setMode(0104755).setUid(1).setSize(5));
    }
}

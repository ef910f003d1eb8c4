package org.globalfs.client.io;

import org.globalfs.protocol.wire.Attributes;
import org.globalfs.protocol.wire.SetAttributesOp;
import org.jspecify.annotations.Nullable;

/**
 * Attributes set one after the other that leave as one command: which may, and what they come to.
 * One command has to leave the file as the several would have.
 */
final class JoinedAttributes {

    private JoinedAttributes() {}

    /**
     * Whether both in one command do what one after the other does: chown(2), also the one that
     * names nobody and sets nothing, takes away the set-id bits that a chmod before it set.
     */
    static boolean join(@Nullable SetAttributesOp earlier, SetAttributesOp later) {
        boolean chown = later.isSetUid() || later.isSetGid();
        return !setsNothing(later) && !(chown && earlier != null && earlier.isSetMode());
    }

    /** The replicas take it for chown(2) to nobody else. */
    private static boolean setsNothing(SetAttributesOp op) {
        return !op.isSetMode()
                && !op.isSetUid()
                && !op.isSetGid()
                && !op.isSetSize()
                && !op.isSetAtimeNs()
                && !op.isSetMtimeNs()
                && !op.isSetAtimeNow()
                && !op.isSetMtimeNow();
    }

    static SetAttributesOp merged(@Nullable SetAttributesOp earlier, SetAttributesOp later) {
        if (earlier == null) {
            return new SetAttributesOp(later);
        }
        SetAttributesOp result = new SetAttributesOp(earlier);
        if (later.isSetMode()) {
            result.setMode(later.getMode());
        }
        if (later.isSetUid()) {
            result.setUid(later.getUid());
        }
        if (later.isSetGid()) {
            result.setGid(later.getGid());
        }
        if (later.isSetSize()) {
            result.setSize(later.getSize());
            result.setPartly(later.isPartly());
            result.unsetMtimeNs();
            result.unsetMtimeNow();
        }
        if (later.isSetAtimeNs() || later.isAtimeNow()) {
            result.unsetAtimeNs();
            result.unsetAtimeNow();
        }
        if (later.isSetMtimeNs() || later.isMtimeNow()) {
            result.unsetMtimeNs();
            result.unsetMtimeNow();
        }
        if (later.isSetAtimeNs()) {
            result.setAtimeNs(later.getAtimeNs());
        }
        if (later.isSetMtimeNs()) {
            result.setMtimeNs(later.getMtimeNs());
        }
        if (later.isAtimeNow()) {
            result.setAtimeNow(true);
        }
        if (later.isMtimeNow()) {
            result.setMtimeNow(true);
        }
        if (later.isHandle()) {
            result.setHandle(true);
        }
        return result;
    }

    /**
     * What is left of them after a write, which sets the time of modification itself; null: nothing
     * is.
     */
    static @Nullable SetAttributesOp beforeWrite(SetAttributesOp op) {
        op.unsetMtimeNs();
        op.unsetMtimeNow();
        return setsNothing(op) ? null : op;
    }

    /** Sets them in {@code result}, as far as the client can. */
    static void overlay(Attributes result, SetAttributesOp set) {
        if (set.isSetMode()) {
            result.setMode((result.getMode() & ~07777) | (set.getMode() & 07777));
        }
        if (set.isSetUid()) {
            result.setUid(set.getUid());
        }
        if (set.isSetGid()) {
            result.setGid(set.getGid());
        }
        if (set.isSetSize()) {
            result.setSize(set.getSize());
        }
        if (set.isSetAtimeNs()) {
            result.setAtimeNs(set.getAtimeNs());
        }
        if (set.isSetMtimeNs()) {
            result.setMtimeNs(set.getMtimeNs());
        }
    }
}

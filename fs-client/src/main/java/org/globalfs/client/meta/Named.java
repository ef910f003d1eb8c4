package org.globalfs.client.meta;

import java.util.List;
import org.globalfs.protocol.wire.UpdateOp;

/** The inodes that updates are sent after: those in whose partition they are to be executed. */
final class Named {

    private Named() {}

    /** None: the update is about the session, or the partition itself. */
    static List<Long> inodes(UpdateOp op) {
        return switch (op.getSetField()) {
            case CREATE -> List.of(op.getCreate().getParent());
            case UNLINK -> List.of(op.getUnlink().getParent());
            case RENAME -> List.of(op.getRename().getParent(), op.getRename().getNewParent());
            case LINK -> List.of(op.getLink().getIno(), op.getLink().getNewParent());
            case SET_ATTRIBUTES -> List.of(op.getSetAttributes().getIno());
            case WRITE -> List.of(op.getWrite().getIno());
            case SET_XATTR -> List.of(op.getSetXattr().getIno());
            case REMOVE_XATTR -> List.of(op.getRemoveXattr().getIno());
            case ALLOCATE -> List.of(op.getAllocate().getIno());
            case COPY_RANGE -> List.of(op.getCopyRange().getIno(), op.getCopyRange().getSource());
            case COMPACT -> List.of(op.getCompact().getIno());
            case SET_QUOTA -> List.of(op.getSetQuota().getIno());
            case LOCK -> List.of(op.getLock().getIno());
            default -> List.of();
        };
    }
}

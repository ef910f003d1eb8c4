package org.globalfs.replica.grants;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.globalfs.protocol.wire.CreateOp;
import org.globalfs.protocol.wire.LinkOp;
import org.globalfs.protocol.wire.RenameOp;
import org.globalfs.protocol.wire.UnlinkOp;
import org.globalfs.protocol.wire.UpdateOp;

/**
 * What an update changes, as far as the operation itself tells: inodes, and names whose inodes
 * change too.
 */
public record Footprint(List<Long> inodes, List<Name> names) {

    /** An entry of a directory. */
    public record Name(long parent, ByteBuffer name) {

        public byte[] bytes() {
            byte[] bytes = new byte[name.remaining()];
            name.duplicate().get(bytes);
            return bytes;
        }
    }

    public static Footprint of(UpdateOp op) {
        List<Long> inodes = new ArrayList<>();
        List<Name> names = new ArrayList<>();
        switch (op.getSetField()) {
            case CREATE -> {
                CreateOp create = op.getCreate();
                if (!create.isTemporary()) {
                    names.add(new Name(create.getParent(), create.bufferForName()));
                }
            }
            case UNLINK -> {
                UnlinkOp unlink = op.getUnlink();
                names.add(new Name(unlink.getParent(), unlink.bufferForName()));
            }
            case RENAME -> {
                RenameOp rename = op.getRename();
                names.add(new Name(rename.getParent(), rename.bufferForName()));
                names.add(new Name(rename.getNewParent(), rename.bufferForNewName()));
            }
            case LINK -> {
                LinkOp link = op.getLink();
                inodes.add(link.getIno());
                names.add(new Name(link.getNewParent(), link.bufferForNewName()));
            }
            case SET_ATTRIBUTES -> inodes.add(op.getSetAttributes().getIno());
            case WRITE -> inodes.add(op.getWrite().getIno());
            case SET_XATTR -> inodes.add(op.getSetXattr().getIno());
            case REMOVE_XATTR -> inodes.add(op.getRemoveXattr().getIno());
            case ALLOCATE -> inodes.add(op.getAllocate().getIno());
            case COPY_RANGE -> inodes.add(op.getCopyRange().getIno());
            case COMPACT -> inodes.add(op.getCompact().getIno());
            case SET_QUOTA -> inodes.add(op.getSetQuota().getIno());
            case RENEW_SESSION,
                    ADOPT_QUOTA,
                    MOVE,
                    NOTICES,
                    TIDY_COPIES,
                    LOCK,
                    COLLECT_ORPHANS,
                    BLOCKS_DELETED,
                    FENCE_BLOCKS,
                    CONFIRM_IMPORTS,
                    VOTE,
                    DECIDE -> {}
        }
        for (Name name : names) {
            inodes.add(name.parent());
        }
        return new Footprint(inodes, names);
    }
}

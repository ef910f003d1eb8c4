package org.globalfs.replica.service;

import java.io.IOException;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.globalfs.protocol.Disk;
import org.globalfs.protocol.DiskReserve;
import org.globalfs.protocol.DiskWatch;
import org.globalfs.protocol.wire.UpdateOp;
import org.globalfs.protocol.wire.UpdateRequest;

/**
 * Whether this replica's disks, those of its log and of its state, have room for what updates add.
 *
 * <p>A replica whose disk is really full can execute nothing any more, removals included, and has
 * to stop. So while less than the reserve is free, updates that need room are refused before they
 * are proposed: never when they are executed, where all replicas have to do the same. The reserve
 * is for everything else that goes on: removals, leases, locks, the log until the next checkpoint
 * trims it, and compactions.
 *
 * <p>An update that was sent before passes: it may be in the log already, and then saying that it
 * was refused would be wrong.
 */
final class DiskRoom {

    /** As in fallocate(2). */
    private static final int PUNCH_HOLE = 2;

    private final List<DiskWatch> watches = new ArrayList<>();

    /**
     * @param folders of the state and of the log, which exist; usually on one disk
     * @throws IOException a disk does not say how much is free
     */
    DiskRoom(int replica, DiskReserve reserve, Path... folders) throws IOException {
        Set<FileStore> watched = new HashSet<>();
        for (Path folder : folders) {
            if (watched.add(Files.getFileStore(folder))) {
                Disk disk = Disk.of(folder);
                watches.add(new DiskWatch("replica " + replica, folder, disk, reserve.on(disk)));
            }
        }
        look();
    }

    /** To be called several times a second: an update itself asks no disk. */
    void look() throws IOException {
        for (DiskWatch watch : watches) {
            watch.look(0);
        }
    }

    boolean isFull() {
        for (DiskWatch watch : watches) {
            if (watch.isFull()) {
                return true;
            }
        }
        return false;
    }

    /** Whether little more than the reserve is left. */
    boolean isScarce() {
        DiskWatch least = least();
        return least.isFull() || least.freeBytes() < 2 * least.reservedBytes();
    }

    /** The disk with the least room. */
    DiskWatch least() {
        DiskWatch least = watches.getFirst();
        for (DiskWatch watch : watches) {
            if (watch.freeBytes() - watch.reservedBytes()
                    < least.freeBytes() - least.reservedBytes()) {
                least = watch;
            }
        }
        return least;
    }

    /** Whether a client's update is not to be proposed while there is no room. */
    static boolean isRefusable(UpdateRequest request) {
        return !request.isAgain() && needsRoom(request.getCommand().getOp());
    }

    /**
     * What adds records or content; what removes or replaces some passes, so that space returns.
     */
    static boolean needsRoom(UpdateOp op) {
        return switch (op.getSetField()) {
            case CREATE, LINK, WRITE, COPY_RANGE, COMPACT, SET_XATTR, MOVE -> true;
            case ALLOCATE -> (op.getAllocate().getFlags() & PUNCH_HOLE) == 0;
            case UNLINK, RENAME, SET_ATTRIBUTES, REMOVE_XATTR, LOCK, RENEW_SESSION, SET_QUOTA ->
                    false;
            case COLLECT_ORPHANS,
                    BLOCKS_DELETED,
                    FENCE_BLOCKS,
                    VOTE,
                    DECIDE,
                    CONFIRM_IMPORTS,
                    NOTICES,
                    TIDY_COPIES,
                    ADOPT_QUOTA ->
                    false;
        };
    }
}

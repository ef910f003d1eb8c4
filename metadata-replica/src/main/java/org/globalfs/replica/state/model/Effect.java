package org.globalfs.replica.state.model;

import java.util.List;
import org.globalfs.protocol.wire.BlockRef;

/**
 * One unconditional change of one partition's records: what a decided multi-partition operation
 * comes down to.
 */
public sealed interface Effect {

    /** The partition whose record changes. */
    int partition();

    /** A directory entry vanishes. */
    record RemoveEntry(int partition, long parent, byte[] name) implements Effect {}

    /** A directory entry points to this inode from now on, whatever it pointed to before. */
    record PutEntry(int partition, long parent, byte[] name, long ino, int type)
            implements Effect {}

    /** An inode loses a name; a directory loses its only one. */
    record DropLink(int partition, long ino) implements Effect {}

    /** An inode gains a name. */
    record AddLink(int partition, long ino) implements Effect {}

    /** An inode's name changed: ctime, and unless it is 0 the directory that it lies in. */
    record Renamed(int partition, long ino, long parent) implements Effect {}

    /** So many directories of partition 0 lie in regional ones from now on. */
    record GlobalBelow(int partition, long count) implements Effect {}

    /** These inodes live in another partition from now on; what is here of them goes. */
    record Depart(int partition, List<Long> inodes, int to) implements Effect {}

    /** What departed from another partition lives here from now on. */
    record Arrive(int partition, byte[] cargo) implements Effect {}

    /** Inodes that were born here, or of which partition 0 knows, live there from now on. */
    record Forward(int partition, List<Long> inodes, int to) implements Effect {}

    /** An inode that lived elsewhere is no more. */
    record Forget(int partition, long ino) implements Effect {}

    /** A partition does not use a block any more that it was lent so often. */
    record TakeBack(int partition, int from, BlockRef block, long loans) implements Effect {}

    /** This partition's notices up to that one were delivered. */
    record Delivered(int partition, long through) implements Effect {}

    /** That part of a directory's entries is where the directory is to go. */
    record Copied(int partition, long ino, long part) implements Effect {}

    /** The directory does not come after all: what was copied of it is not needed. */
    record Discard(int partition, long ino, long copy) implements Effect {}

    /** A new directory whose entry stands in partition 0. Empty lists: none. */
    record CreateDirectory(
            int partition,
            long ino,
            int mode,
            int uid,
            int gid,
            long timeNs,
            long parent,
            byte[] accessAcl,
            byte[] defaultAcl)
            implements Effect {

        /** What stands in its record besides the rest: nothing unless it inherited lists. */
        public boolean hasAcls() {
            return accessAcl.length > 0 || defaultAcl.length > 0;
        }
    }
}

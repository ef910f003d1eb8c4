package org.globalfs.replica.state.model;

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

    /** An inode's name changed: ctime, and for a directory its parent (0: unchanged). */
    record Renamed(int partition, long ino, long parent) implements Effect {}

    /** So many directories of partition 0 lie in regional ones from now on. */
    record GlobalBelow(int partition, long count) implements Effect {}

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

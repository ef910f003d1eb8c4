package org.globalfs.replica.state.model;

/** A keyed set of records. Keys sort bytewise; docs/formats/metadata-state.md has their layout. */
public enum Table {
    /** ino → attributes and what else an inode is. */
    INODE,
    /** parent, name → ino, type, cookie. */
    DENTRY,
    /** parent, cookie → ino, type, name: the order of readdir. */
    COOKIE,
    /** ino, offset → bytes or part of a block. */
    EXTENT,
    /** block id → number of extents that refer to it, and where it is. */
    BLOCK,
    /** session, sequence → recorded reply; session → what it holds open. */
    SESSION,
    /** ino → since when it has no name. */
    ORPHAN,
    /** block id → a block that nothing refers to. */
    DOOMED,
    /** transaction → locks and vote of a prepared coordinated operation. */
    INTENT,
    /**
     * partition, ring-0 instance → what that instance means for the partition. In partition 0 only.
     */
    VERDICT,
    /** transaction → votes of an undecided coordinated operation. In partition 0 only. */
    TRANSACTION,
    /** Position and counters; the ring's membership once it has changed. */
    SYSTEM,
    /** ino, name → value of an extended attribute; access control lists are in the inode. */
    XATTR,
    /** ino, number → a lock held or waited for, the outcome of a wait, or a fence. */
    FILE_LOCK,
    /** id → limits and usage of a tree; 0, id, directory → how far its entries are counted. */
    QUOTA,
    /**
     * ino → the partition that it lives in. Of inodes that live elsewhere than where they were
     * born: in the partition of their birth, in the one that they live in, and in partition 0.
     */
    FORWARD,
    /** block id, partition → how often the block was lent to it: with the lender and with it. */
    LOAN,
    /** ino → nothing; some of its content is in blocks of another region. */
    FOREIGN,
    /** number → what other partitions are owed, until it is delivered. */
    NOTICE,
    /**
     * directory → how far its entries were copied ahead to where it moves; directory, name →
     * changed since.
     */
    COPY,
    /** directory that does not live here → why entries of it are here nevertheless. */
    STAGED
}

package org.globalfs.replica.state;

/** Where a name in a directory points: the inode and its S_IFMT bits. */
public record Child(long ino, int type) {}

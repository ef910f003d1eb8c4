package org.globalfs.client.vfs;

/** An inode's attributes, and for how long the kernel may answer with them without asking. */
public record AttributesReply(Stat stat, long timeoutNs) {}

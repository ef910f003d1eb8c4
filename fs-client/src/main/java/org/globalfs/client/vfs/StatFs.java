package org.globalfs.client.vfs;

/** What statfs(2) says; sizes in blocks of {@code blockSizeBytes}. */
public record StatFs(
        int blockSizeBytes,
        long blocks,
        long blocksFree,
        long blocksAvailable,
        long files,
        long filesFree,
        int nameMaxBytes) {}

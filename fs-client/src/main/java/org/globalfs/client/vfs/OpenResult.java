package org.globalfs.client.vfs;

/**
 * An open file or directory.
 *
 * @param handle the implementation's number for it, ≥ 0
 * @param keepCache the kernel keeps the pages that it has of the inode (directories: the entries);
 *     else it drops them now
 * @param directIo reads and writes bypass the kernel's page cache (no shared mmap then before Linux
 *     6.6)
 * @param noFlush close(2) does not call {@link FileSystem#flush}: right for files opened for
 *     reading
 * @param cacheDirectory directories only: the kernel may keep the entries and answer later readdirs
 *     from them
 */
public record OpenResult(
        long handle, boolean keepCache, boolean directIo, boolean noFlush, boolean cacheDirectory) {

    public OpenResult(long handle, boolean keepCache, boolean directIo) {
        this(handle, keepCache, directIo, false, false);
    }
}

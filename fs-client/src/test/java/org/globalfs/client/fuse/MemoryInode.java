package org.globalfs.client.fuse;

import java.nio.ByteBuffer;
import java.util.Map;
import java.util.TreeMap;
import org.globalfs.client.vfs.Stat;
import org.jspecify.annotations.Nullable;

/**
 * An inode of {@link MemoryFileSystem}: attributes, and sparse content, names or a link's target.
 * Its monitor guards it.
 */
final class MemoryInode {
    static final int PAGE = 64 << 10;

    record Name(long ino, int type, long cookie) {}

    final long ino;
    int mode;
    int nlink;
    int uid;
    int gid;
    final int rdev;
    long size;
    long atimeNs;
    long mtimeNs;
    long ctimeNs;
    final long btimeNs;
    long lookups;
    int open;
    byte[] target = {};
    long parent;
    final Map<MemoryFileSystem.NameKey, Name> names = new java.util.HashMap<>();
    final TreeMap<Long, MemoryFileSystem.NameKey> order = new TreeMap<>();
    long lastCookie;
    private final TreeMap<Long, byte[]> pages = new TreeMap<>();

    MemoryInode(long ino, int mode, int uid, int gid, int rdev, long nowNs) {
        this.ino = ino;
        this.mode = mode;
        this.uid = uid;
        this.gid = gid;
        this.rdev = rdev;
        this.nlink = isDirectory() ? 2 : 1;
        atimeNs = nowNs;
        mtimeNs = nowNs;
        ctimeNs = nowNs;
        btimeNs = nowNs;
    }

    boolean isDirectory() {
        return (mode & Stat.TYPE_MASK) == Stat.DIRECTORY;
    }

    synchronized Stat stat() {
        return new Stat(
                ino,
                mode,
                nlink,
                uid,
                gid,
                rdev,
                size,
                (long) pages.size() * PAGE,
                atimeNs,
                mtimeNs,
                ctimeNs,
                btimeNs);
    }

    synchronized void read(long offset, ByteBuffer into) {
        long at = offset;
        while (into.hasRemaining() && at < size) {
            long page = at / PAGE;
            int start = (int) (at % PAGE);
            int count = (int) Math.min(Math.min(PAGE - start, into.remaining()), size - at);
            byte[] bytes = pages.get(page);
            if (bytes == null) {
                into.put(new byte[count]);
            } else {
                into.put(bytes, start, count);
            }
            at += count;
        }
    }

    synchronized void write(long offset, ByteBuffer content, long nowNs) {
        long at = offset;
        while (content.hasRemaining()) {
            int start = (int) (at % PAGE);
            int count = Math.min(PAGE - start, content.remaining());
            byte[] bytes = pages.computeIfAbsent(at / PAGE, k -> new byte[PAGE]);
            content.get(bytes, start, count);
            at += count;
        }
        size = Math.max(size, at);
        mtimeNs = nowNs;
        ctimeNs = nowNs;
        mode &= ~06000;
    }

    synchronized void resize(long newSize, long nowNs) {
        if (newSize < size) {
            pages.tailMap((newSize + PAGE - 1) / PAGE, true).clear();
            byte[] last = pages.get(newSize / PAGE);
            if (last != null) {
                java.util.Arrays.fill(last, (int) (newSize % PAGE), PAGE, (byte) 0);
            }
        }
        size = newSize;
        mtimeNs = nowNs;
        ctimeNs = nowNs;
    }

    /** The first page with (or without) content from this one on; null: none before the end. */
    synchronized @Nullable Long seek(long offset, boolean data) {
        for (long page = offset / PAGE; page * PAGE < size; page++) {
            if (pages.containsKey(page) == data) {
                return Math.max(offset, page * PAGE);
            }
        }
        return data ? null : Long.valueOf(size);
    }
}

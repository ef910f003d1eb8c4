package org.globalfs.client.vfs;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicLong;
import org.globalfs.client.cache.MetadataCache;
import org.globalfs.protocol.Errno;
import org.globalfs.protocol.wire.Attributes;
import org.globalfs.protocol.wire.DirectoryEntry;
import org.globalfs.protocol.wire.OpenOp;
import org.globalfs.protocol.wire.ReadOp;
import org.jspecify.annotations.Nullable;

/**
 * Open directories: entries are fetched in pages and handed out as the kernel has room for them.
 */
final class Directories {

    private final Requests requests;
    private final MetadataCache cache;
    private final Names names;
    private final Listings listings;
    private final ConcurrentMap<Long, OpenDirectory> open = new ConcurrentHashMap<>();
    private final AtomicLong numbers;

    /** Entries that were fetched and not handed out yet. Guarded by itself. */
    private static final class OpenDirectory {
        final Deque<DirectoryEntry> ahead = new ArrayDeque<>();

        /** Cookie after which {@code ahead} begins. */
        long position = -1;

        boolean last;
    }

    Directories(Requests requests, Names names, Listings listings, AtomicLong numbers) {
        this.requests = requests;
        this.listings = listings;
        this.cache = requests.cache();
        this.names = names;
        this.numbers = numbers;
    }

    OpenResult open(Caller caller, long ino) throws FsException {
        Attributes attributes = cache.attributes(ino);
        if (attributes == null) {
            ReadOp op = ReadOp.open(new OpenOp(ino, Permissions.READ));
            attributes = requests.read(caller, requests.home(ino), op).reply().getAttributes();
        } else if (!Permissions.may(caller, attributes, Permissions.READ)) {
            throw FsException.of(Errno.EACCES);
        }
        if (!Permissions.isDirectory(attributes)) {
            throw FsException.of(Errno.ENOTDIR);
        }
        long handle = numbers.incrementAndGet();
        open.put(handle, new OpenDirectory());
        return new OpenResult(handle, false, false);
    }

    void read(Caller caller, long ino, long handle, long cookie, DirectorySink sink)
            throws FsException {
        OpenDirectory directory = open.get(handle);
        if (directory == null) {
            throw FsException.of(Errno.EBADF);
        }
        synchronized (directory) {
            if (directory.position != cookie || cookie == 0) {
                directory.ahead.clear();
                directory.last = false;
                directory.position = cookie;
            }
            while (true) {
                if (directory.ahead.isEmpty()) {
                    if (directory.last) {
                        return;
                    }
                    fetch(caller, ino, directory, sink.wantsEntries());
                    continue;
                }
                DirectoryEntry next = directory.ahead.getFirst();
                byte[] name = next.getName();
                if (!sink.add(
                        name,
                        next.getIno(),
                        next.getType(),
                        next.getCookie(),
                        entry(ino, name, next, sink))) {
                    return;
                }
                directory.ahead.removeFirst();
                directory.position = next.getCookie();
            }
        }
    }

    /**
     * It may have been fetched long ago: what is known now is told, and nothing that is not. The
     * kernel would take old attributes for new ones, as it has just asked.
     */
    private @Nullable Entry entry(
            long directory, byte[] name, DirectoryEntry entry, DirectorySink sink)
            throws FsException {
        if (!sink.wantsEntries() || !entry.isSetAttributes()) {
            return null;
        }
        Attributes known = cache.attributes(entry.getIno());
        return known == null ? null : names.entry(directory, name, known);
    }

    private void fetch(Caller caller, long ino, OpenDirectory directory, boolean attributesWanted)
            throws FsException {
        Listings.Page page = listings.page(caller, ino, directory.position, attributesWanted, true);
        directory.ahead.addAll(page.entries());
        directory.last = page.last();
    }

    void release(long handle) {
        open.remove(handle);
    }
}

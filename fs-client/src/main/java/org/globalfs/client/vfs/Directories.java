package org.globalfs.client.vfs;

import java.util.ArrayList;
import java.util.List;
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

    /**
     * Entries that were fetched, from the first that the last read handed out. Guarded by itself.
     */
    private static final class OpenDirectory {
        private static final long NONE = -1;

        /** In the order of their cookies. */
        List<DirectoryEntry> fetched = List.of();

        /** Cookie after which {@code fetched} begins. */
        private long position = NONE;

        boolean last;

        /**
         * The newest entry when reading began. What got its name since is not told of: who renames
         * what he reads, or copies it beside, would be told of that too, and come to no end.
         */
        private long newest = NONE;

        /**
         * The kernel asks for more than its caller has room for, and then again for what it could
         * not pass on.
         */
        void seek(long cookie) {
            if (cookie == 0) {
                newest = NONE;
            }
            if (cookie == 0 || cookie < position || cookie > end()) {
                fetched = List.of();
                last = false;
            } else {
                fetched = fetched.stream().filter(entry -> entry.getCookie() > cookie).toList();
            }
            position = cookie;
        }

        /** Adds entries that come after those that there are. */
        void add(Listings.Page page) {
            if (newest == NONE) {
                newest = page.newest();
            }
            List<DirectoryEntry> all = new ArrayList<>(fetched);
            last = page.last();
            for (DirectoryEntry entry : page.entries()) {
                if (entry.getCookie() > newest) {
                    last = true;
                } else {
                    all.add(entry);
                }
            }
            fetched = all;
        }

        /** Cookie after which the next entries are to be asked for. */
        long end() {
            return fetched.isEmpty() ? position : fetched.getLast().getCookie();
        }
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
            directory.seek(cookie);
            int next = 0;
            while (next < directory.fetched.size() || !directory.last) {
                if (next == directory.fetched.size()) {
                    fetch(caller, ino, directory, sink.wantsEntries());
                    continue;
                }
                DirectoryEntry entry = directory.fetched.get(next++);
                byte[] name = entry.getName();
                if (!sink.add(
                        name,
                        entry.getIno(),
                        entry.getType(),
                        entry.getCookie(),
                        entry(ino, name, entry, sink))) {
                    return;
                }
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
        directory.add(listings.page(caller, ino, directory.end(), attributesWanted, true));
    }

    void release(long handle) {
        open.remove(handle);
    }
}

package org.globalfs.client.vfs;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.globalfs.client.cache.MetadataCache;
import org.globalfs.client.cache.Name;
import org.globalfs.client.meta.Patience;
import org.globalfs.protocol.Errno;
import org.globalfs.protocol.wire.Attributes;
import org.globalfs.protocol.wire.Credentials;
import org.globalfs.protocol.wire.DirectoryEntry;
import org.globalfs.protocol.wire.ReadDirectoryOp;
import org.globalfs.protocol.wire.ReadOp;
import org.globalfs.protocol.wire.ReadReply;
import org.jspecify.annotations.Nullable;

/** Asks for directories' entries; the cache learns what they say of names and inodes. */
final class Listings {

    private static final int PAGE_ENTRIES = 500;
    private static final int DIRECTORIES = 10_000;
    private static final Duration MISSES_COUNT = Duration.ofSeconds(5);

    /** A directory of this region in which so many names were not there is worth a listing. */
    private static final int NEAR_ABSENT = 4;

    /** One of another region, in which so many were asked for. */
    private static final int FAR_ASKED = 2;

    private final Requests requests;
    private final MetadataCache cache;
    private final DirectoryReadAhead readAhead;

    /** Names that were asked for one by one lately, by far directory; by near one, in vain. */
    private final Cache<Long, Integer> misses =
            Caffeine.newBuilder()
                    .maximumSize(DIRECTORIES)
                    .expireAfterWrite(MISSES_COUNT)
                    .executor(Runnable::run)
                    .build();

    /**
     * Entries in the order of their cookies.
     *
     * @param last no more come after them
     * @param newest no entry that was there had a higher cookie
     */
    record Page(List<DirectoryEntry> entries, boolean last, long newest) {}

    Listings(Requests requests, DirectoryReadAhead readAhead) {
        this.requests = requests;
        this.cache = requests.cache();
        this.readAhead = readAhead;
    }

    /**
     * @param from cookie of the entry before; 0: from the start
     * @param attributesWanted of the entries too
     * @param handle through an open directory: the caller's right to read it is not checked
     */
    Page page(Caller caller, long ino, long from, boolean attributesWanted, boolean handle)
            throws FsException {
        Patience patience = requests.patience(caller);
        if (from == 0) {
            readAhead.wanted(ino, patience);
        }
        // Without a grant nobody may remember them: a lookup would ask again.
        boolean attributes = attributesWanted && cache.leased(requests.home(ino));
        Page known = handle ? known(ino, from, attributes) : null;
        return known != null
                ? known
                : ask(Requests.credentials(caller), ino, from, attributes, handle, patience);
    }

    /** What the cache knows of the directory; null: not all of that. */
    private @Nullable Page known(long ino, long from, boolean attributesWanted) {
        List<DirectoryEntry> listing = cache.listing(ino);
        if (listing == null) {
            return null;
        }
        List<DirectoryEntry> entries = new ArrayList<>();
        for (DirectoryEntry entry : listing) {
            if (entry.getCookie() <= from) {
                continue;
            }
            Attributes attributes = attributesWanted ? cache.attributes(entry.getIno()) : null;
            if (attributesWanted
                    && attributes == null
                    && requests.home(entry.getIno()) == requests.home(ino)) {
                return null;
            }
            entries.add(
                    new DirectoryEntry(
                                    entry.getIno(),
                                    entry.bufferForName(),
                                    entry.getType(),
                                    entry.getCookie())
                            .setAttributes(attributes));
        }
        return new Page(entries, true, newest(entries, from));
    }

    private Page ask(
            Credentials credentials,
            long ino,
            long from,
            boolean attributes,
            boolean handle,
            Patience patience)
            throws FsException {
        ReadDirectoryOp op =
                new ReadDirectoryOp(ino, from, PAGE_ENTRIES)
                        .setAttributes(attributes)
                        .setHandle(handle);
        Requests.Read read =
                requests.tryRead(
                        credentials, requests.home(ino), ReadOp.readDirectory(op), patience);
        ReadReply reply = read.reply();
        Requests.check(reply.getErrno());
        List<DirectoryEntry> entries = reply.isSetEntries() ? reply.getEntries() : List.of();
        boolean last = reply.isLast() || entries.isEmpty();
        long told = reply.isSetNewestCookie() ? reply.getNewestCookie() : Long.MAX_VALUE;
        Page page = new Page(entries, last, last ? newest(entries, from) : told);
        learn(ino, from, page, read);
        if (read.partition() != requests.client().origin()) {
            readAhead.listed(ino, inodes(entries, Stat.DIRECTORY), this::ahead);
            readAhead.listed(ino, inodes(entries, Stat.REGULAR));
        }
        return page;
    }

    /** Of entries that no more come after. */
    private static long newest(List<DirectoryEntry> entries, long from) {
        return entries.isEmpty() ? from : entries.getLast().getCookie();
    }

    private static List<Long> inodes(List<DirectoryEntry> entries, int type) {
        return entries.stream()
                .filter(entry -> entry.getType() == type)
                .map(DirectoryEntry::getIno)
                .toList();
    }

    /** Whoever may list the directory finds in the cache what it holds. */
    private void ahead(long ino, Patience patience) throws FsException {
        boolean leased = cache.leased(requests.home(ino));
        if (leased && cache.listing(ino) == null) {
            ask(DirectoryReadAhead.SYSTEM, ino, 0, true, true, patience);
        }
    }

    private void learn(long ino, long from, Page page, Requests.Read read) {
        Attributes self = read.reply().getAttributes();
        if (self == null || read.validity() == null) {
            return;
        }
        for (DirectoryEntry entry : page.entries) {
            Name name = new Name(entry.getIno(), entry.getType());
            cache.learnName(
                    ino, entry.getName(), name, self.getVersion(), read.validity(), read.stamp());
            if (entry.isSetAttributes()) {
                cache.learn(entry.getAttributes(), read.validity(), read.stamp());
            }
        }
        if (from == 0 && page.last) {
            cache.learnListing(ino, page.entries, self.getVersion(), read.validity(), read.stamp());
        }
    }

    /**
     * A name is about to be asked for. In a directory of another region it is worth a listing when
     * others were, too: that answers all further ones, absent names included. In one of this region
     * only to know which names are not there: a program that makes files has each looked for first.
     *
     * @return whether the directory was asked for, so that the cache may know the name now
     */
    boolean insteadOf(Caller caller, long directory) throws FsException {
        int partition = requests.home(directory);
        if (partition == 0) {
            return false;
        }
        boolean near = isNear(partition);
        int missed = near ? misses.asMap().getOrDefault(directory, 0) : missed(directory);
        // Seldom when it does not help: too many entries for a page, or others keep changing it.
        if (missed < (near ? NEAR_ABSENT : FAR_ASKED)
                || Integer.bitCount(missed) != 1
                || !cache.leased(partition)) {
            return false;
        }
        if (near) {
            missed(directory);
        }
        try {
            page(caller, directory, 0, !near, false);
            return true;
        } catch (FsException e) {
            if (e.errno() == Errno.EACCES) {
                return false; // one may look for names where one may not list them
            }
            throw e;
        }
    }

    /** A name was asked for, and is not there. */
    void absent(long directory) {
        if (isNear(requests.home(directory))) {
            missed(directory);
        }
    }

    private boolean isNear(int partition) {
        return partition == requests.client().origin();
    }

    private int missed(long directory) {
        return misses.asMap().merge(directory, 1, Integer::sum);
    }
}

package org.globalfs.client.vfs;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import java.nio.ByteBuffer;
import java.util.Arrays;
import org.globalfs.client.cache.KernelPages;
import org.globalfs.client.cache.MetadataCache;
import org.globalfs.client.cache.Name;
import org.globalfs.client.cache.Validity;
import org.globalfs.client.use.UseCounts;
import org.globalfs.protocol.Errno;
import org.globalfs.protocol.wire.Attributes;
import org.globalfs.protocol.wire.CreateOp;
import org.globalfs.protocol.wire.Credentials;
import org.globalfs.protocol.wire.GetAttributesOp;
import org.globalfs.protocol.wire.LinkOp;
import org.globalfs.protocol.wire.LookupOp;
import org.globalfs.protocol.wire.ReadLinkOp;
import org.globalfs.protocol.wire.ReadOp;
import org.globalfs.protocol.wire.ReadReply;
import org.globalfs.protocol.wire.RenameOp;
import org.globalfs.protocol.wire.UnlinkOp;
import org.globalfs.protocol.wire.UpdateOp;
import org.globalfs.protocol.wire.UpdateReply;
import org.jspecify.annotations.Nullable;

/**
 * Names and what they point to: lookup, and every operation that makes, moves or removes a name.
 */
final class Names {

    private static final int LOOKUP_ROUNDS = 5;
    private static final int EXCHANGE = 2;
    private static final int NAME_MAX = 255;
    private static final int PARENTS = 50_000;
    private static final byte[] PARENT = {'.', '.'};
    private static final Credentials SYSTEM = new Credentials(0, 0);
    private static final int TARGETS = 10_000;

    private final Requests requests;
    private final MetadataCache cache;
    private final Listings listings;
    private final OpenFiles files;
    private final KernelPages pages;
    private final PageGrants grants;
    private final UseCounts uses;
    private final Cache<Long, Place> places =
            Caffeine.newBuilder().maximumSize(PARENTS).executor(Runnable::run).build();
    private final Cache<Long, byte[]> targets =
            Caffeine.newBuilder().maximumSize(TARGETS).executor(Runnable::run).build();
    private volatile @Nullable KernelCache kernel;

    /** Where a directory was found last, which is what the kernel believes. */
    private record Place(long parent, byte[] name) {
        boolean is(long otherParent, byte[] otherName) {
            return parent == otherParent && Arrays.equals(name, otherName);
        }
    }

    Names(
            Requests requests,
            Listings listings,
            OpenFiles files,
            KernelPages pages,
            PageGrants grants,
            UseCounts uses) {
        this.requests = requests;
        this.listings = listings;
        this.cache = requests.cache();
        this.files = files;
        this.pages = pages;
        this.grants = grants;
        this.uses = uses;
    }

    void mounted(KernelCache kernelCache) {
        kernel = kernelCache;
    }

    Entry lookup(Caller caller, long parent, byte[] name) throws FsException {
        Attributes attributes = find(caller, parent, name);
        return attributes == null ? absent(parent, name) : entry(parent, name, attributes);
    }

    /** Absence that the kernel may remember, or ENOENT. */
    private Entry absent(long parent, byte[] name) throws FsException {
        long timeoutNs = cache.kernelTimeoutNs(parent);
        Name known = timeoutNs > 0 ? cache.name(parent, name) : null;
        if (known == null || !known.absent() || !cache.nameInKernel(parent, name)) {
            throw FsException.of(Errno.ENOENT);
        }
        return Entry.absent(timeoutNs);
    }

    /** The attributes of what a name points to; null: nothing. */
    @Nullable Attributes find(Caller caller, long parent, byte[] name) throws FsException {
        if (name.length > NAME_MAX) {
            throw FsException.of(Errno.ENAMETOOLONG);
        }
        for (int round = 1; ; round++) {
            Name known = cache.name(parent, name);
            Attributes directory = known == null ? null : cache.attributes(parent);
            if (known == null || directory == null) {
                if (round == 1 && listings.insteadOf(caller, parent)) {
                    continue;
                }
                ReadReply reply = ask(caller, parent, name);
                if (reply == null) {
                    listings.absent(parent);
                    return null;
                }
                if (reply.isSetAttributes()) {
                    return reply.getAttributes();
                }
                known = new Name(reply.getIno(), reply.getType());
            } else if (!Permissions.may(caller, directory, Permissions.EXECUTE)) {
                throw FsException.of(Errno.EACCES);
            } else if (known.absent()) {
                return null;
            }
            Attributes attributes = cache.attributes(known.ino());
            if (attributes != null) {
                return attributes;
            }
            Requests.Read read =
                    requests.tryRead(
                            caller,
                            requests.home(known.ino()),
                            ReadOp.getAttributes(new GetAttributesOp(known.ino())));
            if (read.reply().getErrno() == 0) {
                return read.reply().getAttributes();
            }
            boolean removedMeanwhile =
                    read.reply().getErrno() == Errno.ESTALE.number()
                            || read.reply().getErrno() == Errno.ENOENT.number();
            if (!removedMeanwhile || round == LOOKUP_ROUNDS) {
                throw FsException.of(Errno.of(read.reply().getErrno()));
            }
            cache.forget(parent);
        }
    }

    private @Nullable ReadReply ask(Caller caller, long parent, byte[] name) throws FsException {
        ReadOp op = ReadOp.lookup(new LookupOp(parent, ByteBuffer.wrap(name)));
        Requests.Read read = requests.tryRead(caller, requests.home(parent), op);
        ReadReply reply = read.reply();
        boolean none = reply.getErrno() == Errno.ENOENT.number();
        if (!none) {
            Requests.check(reply.getErrno());
        }
        Attributes directory = reply.getParent();
        if (directory != null) {
            Name found = none ? Name.ABSENT : name(reply);
            cache.learnName(
                    parent, name, found, directory.getVersion(), read.validity(), read.stamp());
        }
        return none ? null : reply;
    }

    private static Name name(ReadReply reply) {
        Attributes attributes = reply.getAttributes();
        return attributes == null
                ? new Name(reply.getIno(), reply.getType())
                : new Name(attributes.getIno(), attributes.getMode() & Stat.TYPE_MASK);
    }

    /**
     * What the kernel is told of a name; what it may remember is noted, to be taken back on a
     * recall.
     */
    Entry entry(long parent, byte[] name, Attributes attributes) throws FsException {
        long ino = attributes.getIno();
        boolean directory = Permissions.isDirectory(attributes);
        uses.found(ino, parent, directory);
        if (directory) {
            found(ino, parent, name);
        }
        files.seen(attributes);
        // It may wait for the kernel.
        AttributesReply reply = reply(attributes);
        long entryTimeoutNs = 0;
        Name known = cache.name(parent, name);
        if (known != null && known.ino() == ino) {
            long timeoutNs = cache.kernelTimeoutNs(parent);
            if (timeoutNs > 0 && cache.nameInKernel(parent, name)) {
                entryTimeoutNs = timeoutNs;
            }
        }
        return new Entry(reply.stat(), entryTimeoutNs, reply.timeoutNs());
    }

    AttributesReply reply(Attributes attributes) throws FsException {
        Attributes pending = files.overlay(attributes);
        grants.settle(attributes.getIno());
        if (pending != null) {
            return new AttributesReply(stat(pending), 0);
        }
        return new AttributesReply(stat(attributes), timeoutNs(attributes));
    }

    /** How long the kernel may believe these attributes, counted from now. */
    private long timeoutNs(Attributes attributes) {
        Attributes known = cache.attributes(attributes.getIno());
        boolean current = known != null && known.getVersion() == attributes.getVersion();
        return current ? cache.kernelTimeoutNs(attributes.getIno()) : 0;
    }

    /** A reply made of these attributes, after something that may have taken longer than that. */
    AttributesReply still(AttributesReply reply, Attributes attributes) {
        return new AttributesReply(
                reply.stat(), Math.min(reply.timeoutNs(), timeoutNs(attributes)));
    }

    /**
     * What the kernel is told of a file that it sets the size of. It lets no page of the file be
     * written back until it has the answer, and drops none that is to be: to wait for that here, as
     * {@link #reply} does, would be to wait for ever. It drops all pages itself when the size is
     * another than it was, and is to ask again for what it wants to know then.
     */
    AttributesReply resized(Attributes attributes) {
        Attributes pending = files.overlay(attributes);
        return new AttributesReply(stat(pending == null ? attributes : pending), 0);
    }

    static Stat stat(Attributes a) {
        return new Stat(
                a.getIno(),
                a.getMode(),
                a.getNlink(),
                a.getUid(),
                a.getGid(),
                a.getRdev(),
                a.getSize(),
                a.getAllocated(),
                a.getAtimeNs(),
                a.getMtimeNs(),
                a.getCtimeNs(),
                a.getBtimeNs());
    }

    long parentOf(Caller caller, long ino) throws FsException {
        Place place = places.getIfPresent(ino);
        if (place != null) {
            return place.parent();
        }
        ReadOp op = ReadOp.lookup(new LookupOp(ino, ByteBuffer.wrap(PARENT)));
        ReadReply reply =
                requests.tryRead(SYSTEM, requests.home(ino), op, requests.patience(caller)).reply();
        Requests.check(reply.getErrno());
        return reply.getIno();
    }

    /** A directory's name as it is told the kernel. */
    private void found(long ino, long parent, byte[] name) {
        Place before = places.getIfPresent(ino);
        if (before != null && before.is(parent, name)) {
            return;
        }
        places.put(ino, new Place(parent, name));
        KernelCache mounted = kernel;
        if (before != null && mounted != null) {
            mounted.entryMoved(before.parent(), before.name());
        }
    }

    /** Executes a create and notes the name. */
    Requests.Updated create(Caller caller, CreateOp op) throws FsException {
        try (var _ = requests.taking()) {
            long parent = op.getParent();
            if (caller.umask() != 0) {
                op.setUmask(caller.umask());
            }
            Requests.Updated updated =
                    requests.update(caller, requests.home(parent), UpdateOp.create(op), parent);
            UpdateReply reply = updated.reply();
            Attributes attributes = reply.getAttributes();
            note(
                    updated,
                    parent,
                    op.getName(),
                    new Name(attributes.getIno(), attributes.getMode() & Stat.TYPE_MASK));
            boolean fresh = !reply.isExisted();
            if (fresh
                    && Permissions.isDirectory(attributes)
                    && requests.home(attributes.getIno()) == requests.home(parent)) {
                cache.learnComplete(
                        attributes.getIno(), granted(updated.validity()), updated.stamp());
            }
            return updated;
        }
    }

    private static @Nullable Validity granted(@Nullable Validity validity) {
        return validity instanceof Validity.Granted ? validity : null;
    }

    private void note(Requests.Updated updated, long parent, byte[] name, Name pointsTo) {
        UpdateReply reply = updated.reply();
        for (Attributes directory : new Attributes[] {reply.getParent(), reply.getNewParent()}) {
            if (directory != null && directory.getIno() == parent) {
                cache.learnName(
                        parent,
                        name,
                        pointsTo,
                        directory.getVersion(),
                        updated.validity(),
                        updated.stamp());
                return;
            }
        }
    }

    Entry make(Caller caller, CreateOp op) throws FsException {
        Attributes attributes = create(caller, op).reply().getAttributes();
        return entry(op.getParent(), op.getName(), attributes);
    }

    Entry link(Caller caller, long ino, long newParent, byte[] newName) throws FsException {
        try (var _ = requests.taking()) {
            LinkOp op = new LinkOp(ino, newParent, ByteBuffer.wrap(newName));
            Requests.Updated updated =
                    requests.update(
                            caller, requests.home(newParent), UpdateOp.link(op), newParent, ino);
            Attributes attributes = updated.reply().getAttributes();
            if (attributes == null) {
                // The inode is in another partition.
                attributes = attributes(caller, ino);
            } else {
                namesChanged(attributes);
            }
            note(updated, newParent, newName, new Name(ino, attributes.getMode() & Stat.TYPE_MASK));
            return entry(newParent, newName, attributes);
        }
    }

    /** Those inodes and what a name, if it is known, points to. */
    private static long[] touched(@Nullable Name name, long... inodes) {
        if (name == null || name.absent()) {
            return inodes;
        }
        long[] all = Arrays.copyOf(inodes, inodes.length + 1);
        all[inodes.length] = name.ino();
        return all;
    }

    void remove(Caller caller, long parent, byte[] name, boolean directory) throws FsException {
        try (var _ = requests.taking()) {
            UnlinkOp op = new UnlinkOp(parent, ByteBuffer.wrap(name), directory);
            Name known = cache.name(parent, name);
            Requests.Updated updated =
                    requests.update(
                            caller,
                            requests.home(parent),
                            UpdateOp.unlink(op),
                            touched(known, parent));
            UpdateReply reply = updated.reply();
            note(updated, parent, name, Name.ABSENT);
            long removed =
                    reply.isSetRemoved() ? reply.getRemoved() : known == null ? 0 : known.ino();
            Attributes left = reply.getAttributes();
            if (left != null) {
                namesChanged(left);
            }
            if (removed != 0 && (left == null || left.getIno() != removed)) {
                cache.forget(removed);
            }
        }
    }

    void rename(Caller caller, long parent, byte[] name, long newParent, byte[] newName, int flags)
            throws FsException {
        try (var _ = requests.taking()) {
            RenameOp op =
                    new RenameOp(
                            parent,
                            ByteBuffer.wrap(name),
                            newParent,
                            ByteBuffer.wrap(newName),
                            flags);
            Name source = cache.name(parent, name);
            Name target = cache.name(newParent, newName);
            Requests.Updated updated =
                    requests.update(
                            caller,
                            requests.home(parent),
                            UpdateOp.rename(op),
                            touched(target, touched(source, parent, newParent)));
            UpdateReply reply = updated.reply();
            Attributes moved = reply.getAttributes();
            if (moved != null && reply.isSetParent() && flags == 0) {
                note(updated, parent, name, Name.ABSENT);
                note(
                        updated,
                        newParent,
                        newName,
                        new Name(moved.getIno(), moved.getMode() & Stat.TYPE_MASK));
            } else {
                cache.forget(parent);
                cache.forget(newParent);
            }
            if (source != null
                    && !source.absent()
                    && (moved == null || moved.getIno() != source.ino())) {
                cache.forget(source.ino());
            }
            if (target != null && !target.absent()) {
                cache.forget(target.ino());
            }
            if (reply.isSetRemoved()) {
                cache.forget(reply.getRemoved());
            }
            boolean exchanged = (flags & EXCHANGE) != 0;
            if (moved != null) {
                moved(moved.getIno(), newParent, newName);
                // Nothing changes when both names are of one file, which only partition 0 tells of.
                if (!reply.isSetExpectedTarget() || reply.getExpectedTarget() != moved.getIno()) {
                    namesChanged(moved);
                }
            }
            if (reply.isSetExpectedSource()) {
                cache.forget(reply.getExpectedSource());
                moved(reply.getExpectedSource(), newParent, newName);
            }
            if (reply.isSetExpectedTarget() && exchanged) {
                cache.forget(reply.getExpectedTarget());
                moved(reply.getExpectedTarget(), parent, name);
            } else if (exchanged && target != null && !target.absent()) {
                moved(target.ino(), parent, name);
            }
        }
    }

    /** An update of this mount raised the inode's version, and left the content as it is. */
    private void namesChanged(Attributes attributes) {
        pages.changed(attributes.getIno(), attributes.getVersion(), 1);
    }

    /** If it is a directory, it was found before; the kernel moves its own notion of it itself. */
    private void moved(long ino, long newParent, byte[] newName) {
        uses.moved(ino, newParent);
        places.asMap().computeIfPresent(ino, (key, before) -> new Place(newParent, newName));
    }

    /** A link's target never changes. */
    byte[] readLink(Caller caller, long ino) throws FsException {
        byte[] known = targets.getIfPresent(ino);
        if (known == null) {
            ReadOp op = ReadOp.readLink(new ReadLinkOp(ino));
            known = requests.read(caller, requests.home(ino), op).reply().getTarget();
            targets.put(ino, known);
        }
        return known.clone();
    }

    /** Committed attributes, from the cache or by asking. */
    Attributes attributes(Caller caller, long ino) throws FsException {
        Attributes known = cache.attributes(ino);
        if (known != null) {
            return known;
        }
        ReadOp op = ReadOp.getAttributes(new GetAttributesOp(ino));
        return requests.read(caller, requests.home(ino), op).reply().getAttributes();
    }
}

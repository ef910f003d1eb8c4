package org.globalfs.replica.state.operations;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.globalfs.protocol.Errno;
import org.globalfs.protocol.posix.Xattr;
import org.globalfs.protocol.wire.Attributes;
import org.globalfs.protocol.wire.ContentOp;
import org.globalfs.protocol.wire.DirectoryEntry;
import org.globalfs.protocol.wire.Extent;
import org.globalfs.protocol.wire.FileSystemStatistics;
import org.globalfs.protocol.wire.GetLockOp;
import org.globalfs.protocol.wire.GetXattrOp;
import org.globalfs.protocol.wire.ListXattrOp;
import org.globalfs.protocol.wire.LockState;
import org.globalfs.protocol.wire.LookupOp;
import org.globalfs.protocol.wire.NamedValue;
import org.globalfs.protocol.wire.OpenOp;
import org.globalfs.protocol.wire.Position;
import org.globalfs.protocol.wire.QuotaOp;
import org.globalfs.protocol.wire.ReadDirectoryOp;
import org.globalfs.protocol.wire.ReadOp;
import org.globalfs.protocol.wire.ReadReply;
import org.globalfs.protocol.wire.ReadRequest;
import org.globalfs.protocol.wire.Status;
import org.globalfs.replica.state.model.Counters;
import org.globalfs.replica.state.model.Dentry;
import org.globalfs.replica.state.model.Inode;
import org.globalfs.replica.state.model.Keys;
import org.globalfs.replica.state.model.LockRecord;
import org.globalfs.replica.state.model.Mode;
import org.globalfs.replica.state.model.Partitions;
import org.globalfs.replica.state.model.Piece;
import org.globalfs.replica.state.model.Quota;
import org.globalfs.replica.state.model.Records;
import org.globalfs.replica.state.model.Table;
import org.jspecify.annotations.Nullable;

/** Answers read requests from records that stand still. */
public final class Reads {

    /** Bounds of one page of a content map or directory. */
    private static final int PAGE_EXTENTS = 2048;

    private static final int PAGE_BYTES = 1 << 20;
    private static final int PAGE_ENTRIES = 4096;
    private static final int PAGE_QUOTAS = 256;

    /** With a lookup, the content map is sent along when it fits into this. */
    private static final int SMALL_EXTENTS = 4;

    private static final int DIRECTORY_SIZE_OF_ENTRY = 160;

    /** Values of extended attributes are sent with their names when all fit into this. */
    private static final int XATTR_VALUES_AT_ONCE = 64 << 10;

    private final Records records;
    private final int partition;
    private final Counters counters;
    private final Homes homes;

    /**
     * @param counters what the records' system record says
     */
    public Reads(Records records, Counters counters) {
        this.records = records;
        this.partition = counters.partition;
        this.counters = counters;
        this.homes = new Homes(records, counters);
    }

    public ReadReply answer(ReadRequest request) {
        ReadReply reply =
                dispatch(
                        Caller.of(request.getCredentials()), request.getOp(), request.getSession());
        reply.setPosition(new Position(partition, counters.applied));
        return reply.setGlobalSeen(counters.globalSeen);
    }

    private static ReadReply reply(int errno) {
        return new ReadReply(Status.DONE, errno, new Position());
    }

    private static ReadReply failed(Errno errno) {
        return reply(errno.number());
    }

    private ReadReply dispatch(Caller caller, ReadOp op, long session) {
        return switch (op.getSetField()) {
            case LOOKUP -> lookup(caller, op.getLookup());
            case GET_ATTRIBUTES -> attributes(op.getGetAttributes().getIno());
            case OPEN -> open(caller, op.getOpen());
            case CONTENT -> content(op.getContent());
            case READ_DIRECTORY -> readDirectory(caller, op.getReadDirectory());
            case READ_LINK -> readLink(op.getReadLink().getIno());
            case GET_XATTR -> getXattr(caller, op.getGetXattr());
            case LIST_XATTR -> listXattr(caller, op.getListXattr());
            case GET_LOCK -> lock(op.getGetLock(), session);
            case QUOTA -> quotas(op.getQuota());
            case STAT_FS ->
                    reply(0).setStatistics(
                                    new FileSystemStatistics(counters.inodes, counters.bytes));
        };
    }

    private @Nullable Inode inode(long ino) {
        return homes.isHere(ino) ? Tree.inode(records, ino) : null;
    }

    /** There is no such inode here: it lives elsewhere, or nowhere. */
    private ReadReply missing(long ino) {
        int home = homes.of(ino);
        return home == partition
                ? failed(Errno.ESTALE)
                : new ReadReply(Status.ESCALATE, 0, new Position()).setHomes(Map.of(ino, home));
    }

    private ReadReply attributes(long ino) {
        Inode inode = inode(ino);
        return inode == null ? missing(ino) : reply(0).setAttributes(inode.attributes());
    }

    private ReadReply lookup(Caller caller, LookupOp op) {
        Inode parent = inode(op.getParent());
        if (parent == null) {
            return missing(op.getParent());
        }
        if (!parent.isDirectory()) {
            return failed(Errno.ENOTDIR);
        }
        if (!caller.may(parent, Caller.EXECUTE)) {
            return failed(Errno.EACCES);
        }
        if (isParentName(op.getName())) {
            return found(new Dentry(parent.parent, Mode.DIRECTORY, 0), false)
                    .setParent(parent.attributes());
        }
        Errno bad = Place.nameError(op.getName());
        if (bad != null) {
            return failed(bad);
        }
        Dentry dentry = Tree.dentry(records, op.getParent(), op.getName());
        ReadReply reply = dentry == null ? failed(Errno.ENOENT) : found(dentry, op.isContent());
        return reply.setParent(parent.attributes());
    }

    private static boolean isParentName(byte[] name) {
        return name.length == 2 && name[0] == '.' && name[1] == '.';
    }

    private ReadReply found(Dentry dentry, boolean withContent) {
        ReadReply reply = reply(0).setIno(dentry.ino()).setType(dentry.type());
        int home = homes.of(dentry.ino());
        if (home != partition) {
            boolean moved = home != Partitions.ofBirth(dentry.ino());
            return moved ? reply.setHomes(Map.of(dentry.ino(), home)) : reply;
        }
        Inode inode = Tree.inode(records, dentry.ino());
        if (inode == null) {
            return failed(Errno.ENOENT);
        }
        reply.setAttributes(inode.attributes());
        if (withContent && inode.isRegular() && inode.extents <= SMALL_EXTENTS) {
            page(reply, inode, 0, Long.MAX_VALUE);
        }
        return reply;
    }

    /** The lock in the way that begins first; or what became of a request that waits. */
    private ReadReply lock(GetLockOp op, long session) {
        if (op.getLock() == null && !op.isSetRequest()) {
            return failed(Errno.EINVAL);
        }
        if (!homes.isHere(op.getIno())) {
            return missing(op.getIno());
        }
        LockRecord wanted =
                op.isSetRequest()
                        ? null
                        : LockRecord.of(LockRecord.State.HELD, session, op.getLock(), 0);
        @Nullable LockRecord[] found = {null};
        records.scan(
                Table.FILE_LOCK,
                Keys.of(op.getIno()),
                Keys.of(op.getIno()),
                (key, value) -> {
                    LockRecord lock = LockRecord.decode(value);
                    if (wanted == null) {
                        boolean asked =
                                lock.session() == session && lock.request() == op.getRequest();
                        if (asked && !lock.is(LockRecord.State.HELD)) {
                            found[0] = lock;
                            return false;
                        }
                    } else if (lock.is(LockRecord.State.HELD)
                            && lock.conflicts(wanted)
                            && (found[0] == null || lock.start() < found[0].start())) {
                        found[0] = lock;
                    }
                    return true;
                });
        LockRecord lock = found[0];
        if (wanted == null) {
            return reply(0).setLockState(state(lock));
        }
        return lock == null ? reply(0) : reply(0).setLock(lock.toWire());
    }

    private static LockState state(@Nullable LockRecord lock) {
        return lock == null
                ? LockState.GONE
                : lock.is(LockRecord.State.WAITING) ? LockState.WAITING : LockState.GRANTED;
    }

    private ReadReply open(Caller caller, OpenOp op) {
        Inode inode = inode(op.getIno());
        if (inode == null) {
            return missing(op.getIno());
        }
        if (op.getAccessMask() != 0 && !caller.may(inode, op.getAccessMask())) {
            return failed(Errno.EACCES);
        }
        ReadReply reply = reply(0).setAttributes(inode.attributes());
        return inode.isRegular() ? page(reply, inode, 0, Long.MAX_VALUE) : reply;
    }

    private ReadReply content(ContentOp op) {
        Inode inode = inode(op.getIno());
        if (inode == null) {
            return missing(op.getIno());
        }
        if (!inode.isRegular()) {
            return failed(inode.isDirectory() ? Errno.EISDIR : Errno.EINVAL);
        }
        if (op.getOffset() < 0 || op.getLength() < 0) {
            return failed(Errno.EINVAL);
        }
        long end = op.getOffset() + op.getLength();
        ReadReply reply = reply(0).setAttributes(inode.attributes());
        return page(reply, inode, op.getOffset(), end < 0 ? Long.MAX_VALUE : end);
    }

    /**
     * Adds the pieces that overlap the range, as many as a page may have; the map is complete to
     * contentEnd.
     */
    private ReadReply page(ReadReply reply, Inode inode, long from, long to) {
        List<Extent> extents = new ArrayList<>();
        long end = Math.min(to, inode.size);
        reply.setExtents(extents);
        if (inode.extents == 0 || from >= end) {
            return reply.setContentEnd(Math.max(from, end));
        }
        Piece first = Content.at(records, inode, from);
        if (first != null && inode.extents == 1) {
            extents.add(first.toWire());
            return reply.setContentEnd(end);
        }
        Pages pages = new Pages(extents, end);
        long start = first == null ? from : first.offset();
        records.scan(Table.EXTENT, Keys.of(inode.ino), Keys.of(inode.ino, start), pages::add);
        return reply.setContentEnd(pages.complete);
    }

    /** Collects extents until the page is full. */
    private static final class Pages {
        private final List<Extent> extents;
        private final long end;
        private long bytes;
        private long complete;

        Pages(List<Extent> extents, long end) {
            this.extents = extents;
            this.end = end;
            complete = end;
        }

        boolean add(byte[] key, byte[] value) {
            long offset = Keys.getLong(key, 8);
            if (offset >= end) {
                return false;
            }
            if (extents.size() >= PAGE_EXTENTS || bytes >= PAGE_BYTES) {
                complete = Math.min(offset, end);
                return false;
            }
            bytes += value.length;
            extents.add(Piece.decode(offset, value).toWire());
            return true;
        }
    }

    private ReadReply readLink(long ino) {
        Inode inode = inode(ino);
        if (inode == null) {
            return missing(ino);
        }
        return inode.type() == Mode.SYMLINK
                ? reply(0).setTarget(inode.target).setAttributes(inode.attributes())
                : failed(Errno.EINVAL);
    }

    private ReadReply getXattr(Caller caller, GetXattrOp op) {
        Inode inode = inode(op.getIno());
        if (inode == null) {
            return missing(op.getIno());
        }
        byte[] name = op.getName();
        Errno refused =
                Xattr.unreadable(
                        name, inode.mode, caller.isRoot(), () -> caller.may(inode, Caller.READ));
        byte[] value = refused == null ? Xattrs.value(records, partition, inode, name) : null;
        if (value == null) {
            return failed(refused == null ? Errno.ENODATA : refused)
                    .setAttributes(inode.attributes());
        }
        return reply(0).setValue(value).setAttributes(inode.attributes());
    }

    private ReadReply listXattr(Caller caller, ListXattrOp op) {
        Inode inode = inode(op.getIno());
        if (inode == null) {
            return missing(op.getIno());
        }
        boolean values = op.isValues() && inode.xattrValues <= XATTR_VALUES_AT_ONCE;
        List<NamedValue> shown = new ArrayList<>();
        Xattrs.forEach(
                records,
                inode,
                (name, value) -> {
                    if (Xattr.isListed(name, caller.isRoot())) {
                        NamedValue next = new NamedValue(ByteBuffer.wrap(name));
                        shown.add(
                                values && readable(caller, inode, name)
                                        ? next.setValue(value)
                                        : next);
                    }
                });
        return reply(0).setXattrs(shown).setAttributes(inode.attributes());
    }

    private static boolean readable(Caller caller, Inode inode, byte[] name) {
        return Xattr.unreadable(
                        name, inode.mode, caller.isRoot(), () -> caller.may(inode, Caller.READ))
                == null;
    }

    private ReadReply quotas(QuotaOp op) {
        List<org.globalfs.protocol.wire.Quota> told = new ArrayList<>();
        if (!op.isSetIno()) {
            return reply(0).setQuotas(told).setLast(listQuotas(op.getAfter(), told));
        }
        Inode inode = inode(op.getIno());
        if (inode == null) {
            return missing(op.getIno());
        }
        Quota quota = Quotas.find(records, inode.quota);
        while (quota != null) {
            if (!quota.cleared) {
                told.add(toWire(quota));
            }
            quota = Quotas.find(records, quota.parent);
        }
        return reply(0).setQuotas(told);
    }

    /** False: there are more. */
    private boolean listQuotas(long after, List<org.globalfs.protocol.wire.Quota> told) {
        boolean[] all = {true};
        records.scan(
                Table.QUOTA,
                Keys.none(),
                Keys.of(Math.max(0, after) + 1), // below are those that are being counted
                (key, value) -> {
                    Quota quota = Quota.decode(Keys.getLong(key, 0), value);
                    if (told.size() == PAGE_QUOTAS) {
                        all[0] = false;
                    } else if (!quota.cleared) {
                        told.add(toWire(quota));
                    }
                    return all[0];
                });
        return all[0];
    }

    private org.globalfs.protocol.wire.Quota toWire(Quota quota) {
        return new org.globalfs.protocol.wire.Quota(
                quota.id,
                quota.root,
                quota.limitBytes,
                quota.limitInodes,
                quota.usedBytes,
                quota.usedInodes,
                quota.parent,
                Quotas.isCounting(records, quota.id));
    }

    private ReadReply readDirectory(Caller caller, ReadDirectoryOp op) {
        Inode directory = inode(op.getIno());
        if (directory == null) {
            return missing(op.getIno());
        }
        if (!directory.isDirectory()) {
            return failed(Errno.ENOTDIR);
        }
        if (!op.isHandle() && !caller.may(directory, Caller.READ)) {
            return failed(Errno.EACCES);
        }
        if (op.getCookie() < 0 || op.getLimit() <= 0) {
            return failed(Errno.EINVAL);
        }
        int limit = Math.min(op.getLimit(), PAGE_ENTRIES);
        List<DirectoryEntry> entries = new ArrayList<>(Math.min(limit, 256));
        boolean[] more = {false};
        int[] bytes = {0};
        records.scan(
                Table.COOKIE,
                Keys.of(op.getIno()),
                Keys.of(op.getIno(), op.getCookie() + 1),
                (key, value) -> {
                    if (entries.size() >= limit || bytes[0] >= PAGE_BYTES) {
                        more[0] = true;
                        return false;
                    }
                    DirectoryEntry entry = entry(key, value, op.isAttributes());
                    bytes[0] += size(entry);
                    entries.add(entry);
                    return true;
                });
        return reply(0).setEntries(entries)
                .setLast(!more[0])
                .setNewestCookie(directory.nextCookie - 1)
                .setAttributes(directory.attributes());
    }

    private static int size(DirectoryEntry entry) {
        Attributes attributes = entry.getAttributes();
        int acl =
                attributes == null || !attributes.isSetAccessAcl()
                        ? 0
                        : attributes.bufferForAccessAcl().remaining();
        return DIRECTORY_SIZE_OF_ENTRY + entry.bufferForName().remaining() + acl;
    }

    private DirectoryEntry entry(byte[] key, byte[] value, boolean withAttributes) {
        Dentry.Named named = Dentry.decodeByCookie(Keys.getLong(key, 8), value);
        Dentry dentry = named.dentry();
        DirectoryEntry entry =
                new DirectoryEntry(
                        dentry.ino(),
                        ByteBuffer.wrap(named.name()),
                        dentry.type(),
                        dentry.cookie());
        Inode inode = withAttributes ? inode(dentry.ino()) : null;
        return inode == null
                ? entry
                : entry.setAttributes(Objects.requireNonNull(inode).attributes());
    }
}

package org.globalfs.client.vfs;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.globalfs.client.cache.KernelPages;
import org.globalfs.client.cache.MetadataCache;
import org.globalfs.client.vfs.OpenFiles.OpenInode;
import org.globalfs.protocol.Errno;
import org.globalfs.protocol.config.ConfigException;
import org.globalfs.protocol.config.PolicyFile;
import org.globalfs.protocol.placement.MoveRule;
import org.globalfs.protocol.placement.Placement;
import org.globalfs.protocol.posix.Xattr;
import org.globalfs.protocol.wire.Attributes;
import org.globalfs.protocol.wire.GetXattrOp;
import org.globalfs.protocol.wire.ListXattrOp;
import org.globalfs.protocol.wire.NamedValue;
import org.globalfs.protocol.wire.ReadOp;
import org.globalfs.protocol.wire.ReadReply;
import org.globalfs.protocol.wire.RemoveXattrOp;
import org.globalfs.protocol.wire.SetXattrOp;
import org.globalfs.protocol.wire.UpdateOp;
import org.jspecify.annotations.Nullable;

/**
 * Extended attributes. The attributes that stat(2) needs say which kinds an inode has, and hold its
 * access control list: whoever has none, and every permission check, costs no question.
 */
final class Xattrs {

    private static final int HAS_NAMED = 1;
    private static final int HAS_DEFAULT_ACL = 2;
    private static final int HAS_CAPABILITY = 4;
    private static final int HAS_POLICY = 8;
    private static final byte[] POLICY = MoveRule.ATTRIBUTE.getBytes(US_ASCII);
    private static final long POLICY_PATIENCE_NS = TimeUnit.SECONDS.toNanos(5);
    private static final int[] NO_GROUPS = {};
    private static final byte[] PLACEMENT = Placement.ATTRIBUTE.getBytes(US_ASCII);

    private final Requests requests;
    private final MetadataCache cache;
    private final Names names;
    private final OpenFiles files;
    private final KernelPages pages;
    private final Quotas quotas;

    Xattrs(Requests requests, Names names, OpenFiles files, KernelPages pages, Quotas quotas) {
        this.quotas = quotas;
        this.requests = requests;
        this.cache = requests.cache();
        this.names = names;
        this.files = files;
        this.pages = pages;
    }

    @SuppressWarnings("ReferenceEquality") // NO_XATTR is that very array
    byte[] get(Caller caller, long ino, byte[] name) throws FsException {
        if (Quotas.isOne(name)) {
            return quotas.get(caller, ino, name);
        }
        Xattr space = Xattr.of(name);
        Attributes attributes =
                Xattr.isCapability(name)
                        ? beforeWrite(caller, ino)
                        : committed(caller, ino, space != null && space.isAcl());
        Errno refused =
                Xattr.unreadable(
                        name,
                        attributes.getMode(),
                        caller.uid() == 0,
                        () -> Permissions.may(caller, attributes, Permissions.READ));
        if (refused != null || space == null) {
            throw FsException.of(refused == null ? Errno.EOPNOTSUPP : refused);
        }
        if (space == Xattr.ACCESS_ACL && attributes.isSetAccessAcl()) {
            return attributes.getAccessAcl().clone();
        }
        if (!mayHave(attributes, space, name)) {
            throw FsException.of(Errno.ENODATA);
        }
        byte[] known = cache.xattr(ino, name);
        byte[] value = known == null ? ask(caller, ino, name) : known;
        if (value == MetadataCache.NO_XATTR) {
            throw FsException.of(Errno.ENODATA);
        }
        return value.clone();
    }

    /** As {@code UseReporter.Policies}. */
    @SuppressWarnings("ReferenceEquality") // NO_XATTR is that very array
    @Nullable String policy(long directory) {
        Attributes attributes = cache.attributes(directory);
        if (attributes == null || (attributes.getExtended() & HAS_POLICY) == 0) {
            return attributes == null ? null : "";
        }
        try {
            byte[] known = cache.xattr(directory, POLICY);
            Caller caller = Caller.of(0, 0, NO_GROUPS, System.nanoTime() + POLICY_PATIENCE_NS);
            byte[] value = known == null ? ask(caller, directory, POLICY) : known;
            return value == MetadataCache.NO_XATTR ? "" : new String(value, UTF_8);
        } catch (FsException e) {
            return null; // the next report will say it
        }
    }

    /** A policy is said in words that oracles understand. */
    private void checkPolicy(byte[] value) throws FsException {
        try {
            Set<String> regions = requests.client().regions().keySet();
            PolicyFile.ofAttribute(MoveRule.ATTRIBUTE, new String(value, UTF_8), regions);
        } catch (ConfigException e) {
            throw FsException.of(Errno.EINVAL, String.valueOf(e.getMessage()));
        }
    }

    private boolean mayHave(Attributes attributes, Xattr space, byte[] name) {
        int kinds = attributes.getExtended();
        if (space.isAcl()) {
            return space == Xattr.DEFAULT_ACL && (kinds & HAS_DEFAULT_ACL) != 0;
        }
        if (Xattr.isCapability(name)) {
            return (kinds & HAS_CAPABILITY) != 0;
        }
        boolean virtual = requests.home(attributes.getIno()) == 0 && Arrays.equals(name, PLACEMENT);
        return virtual || (kinds & HAS_NAMED) != 0;
    }

    /**
     * The kernel looks for {@code security.capability} before it writes, to take it away. The
     * replica does that at every write, so that what was known at the open is good enough.
     */
    private Attributes beforeWrite(Caller caller, long ino) throws FsException {
        Attributes known = cache.attributes(ino);
        OpenInode open = known == null ? files.find(ino) : null;
        return open == null ? names.attributes(caller, ino) : open.attributes();
    }

    /** A change of the mode that waits in a file's pending writes changes its list. */
    private Attributes committed(Caller caller, long ino, boolean flush) throws FsException {
        if (flush) {
            flush(ino);
        }
        return names.attributes(caller, ino);
    }

    private void flush(long ino) {
        OpenInode open = files.find(ino);
        if (open != null && open.content.hasPending()) {
            open.content.flush();
        }
    }

    private byte[] ask(Caller caller, long ino, byte[] name) throws FsException {
        ReadOp op = ReadOp.getXattr(new GetXattrOp(ino, ByteBuffer.wrap(name)));
        Requests.Read read = requests.tryRead(caller, requests.home(ino), op);
        ReadReply reply = read.reply();
        boolean absent = reply.getErrno() == Errno.ENODATA.number();
        if (!absent) {
            Requests.check(reply.getErrno());
        }
        byte[] value = absent ? MetadataCache.NO_XATTR : reply.getValue();
        Attributes attributes = reply.getAttributes();
        if (attributes != null) {
            cache.learnXattr(
                    ino, name, value, attributes.getVersion(), read.validity(), read.stamp());
        }
        return value;
    }

    List<byte[]> list(Caller caller, long ino) throws FsException {
        Attributes attributes = committed(caller, ino, true);
        List<byte[]> shown = new ArrayList<>();
        if (attributes.getExtended() == 0) {
            if (attributes.isSetAccessAcl()) {
                shown.add(Xattr.ACCESS_ACL.fullName());
            }
            return shown;
        }
        ReadOp op = ReadOp.listXattr(new ListXattrOp(ino).setValues(true));
        Requests.Read read = requests.read(caller, requests.home(ino), op);
        Attributes current = read.reply().getAttributes();
        for (NamedValue xattr : read.reply().getXattrs()) {
            shown.add(xattr.getName());
            if (xattr.isSetValue() && current != null) {
                cache.learnXattr(
                        ino,
                        xattr.getName(),
                        xattr.getValue(),
                        current.getVersion(),
                        read.validity(),
                        read.stamp());
            }
        }
        return shown;
    }

    void set(Caller caller, long ino, byte[] name, byte[] value, int flags) throws FsException {
        if (Quotas.isOne(name)) {
            change(caller, ino, UpdateOp.setQuota(Quotas.setting(ino, name, value)));
            return;
        }
        if (caller.uid() == 0 && Arrays.equals(name, POLICY)) {
            checkPolicy(value);
        }
        SetXattrOp op = new SetXattrOp(ino, ByteBuffer.wrap(name), ByteBuffer.wrap(value));
        change(caller, ino, UpdateOp.setXattr(op.setFlags(flags)));
    }

    /**
     * The kernel takes a capability away on behalf of whoever writes through an open file, which he
     * may no longer be allowed to open: then it is left to the write itself.
     */
    void remove(Caller caller, long ino, byte[] name) throws FsException {
        if (Quotas.isOne(name)) {
            change(caller, ino, UpdateOp.setQuota(Quotas.clearing(ino, name)));
            return;
        }
        UpdateOp op = UpdateOp.removeXattr(new RemoveXattrOp(ino, ByteBuffer.wrap(name)));
        try {
            change(caller, ino, op);
        } catch (FsException e) {
            boolean beforeWrite = Xattr.isCapability(name) && files.find(ino) != null;
            if (e.errno() != Errno.EPERM || !beforeWrite) {
                throw e;
            }
        }
    }

    /** After what was written before: a write takes capabilities away. */
    private void change(Caller caller, long ino, UpdateOp op) throws FsException {
        flush(ino);
        Requests.Updated updated = requests.update(caller, requests.home(ino), op, ino);
        Attributes attributes = updated.reply().getAttributes();
        pages.changed(ino, attributes.getVersion(), 1);
        files.seen(attributes);
    }
}

package org.globalfs.client.fuse;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.globalfs.client.vfs.AttributesReply;
import org.globalfs.client.vfs.Caller;
import org.globalfs.client.vfs.Created;
import org.globalfs.client.vfs.DirectorySink;
import org.globalfs.client.vfs.Entry;
import org.globalfs.client.vfs.FileSystem;
import org.globalfs.client.vfs.FsException;
import org.globalfs.client.vfs.KernelCache;
import org.globalfs.client.vfs.LockRequest;
import org.globalfs.client.vfs.OpenFlags;
import org.globalfs.client.vfs.OpenResult;
import org.globalfs.client.vfs.SetAttributes;
import org.globalfs.client.vfs.Stat;
import org.globalfs.client.vfs.StatFs;
import org.globalfs.protocol.Errno;
import org.jspecify.annotations.Nullable;

/**
 * A whole file system in memory, for tests. The tree's shape is guarded by this object's monitor.
 * Some names misbehave on purpose: looking up {@code hang} never returns, {@code steps} takes a
 * second more than its time in two steps, {@code crash} throws, opening one that begins with {@code
 * late-} takes a second, a file whose name begins with {@code slow-} hangs when it is read.
 */
class MemoryFileSystem implements FileSystem {

    /** A name as a key of maps. */
    record NameKey(byte[] bytes) {
        @Override
        public boolean equals(Object other) {
            return other instanceof NameKey(byte[] others) && Arrays.equals(bytes, others);
        }

        @Override
        public int hashCode() {
            return Arrays.hashCode(bytes);
        }
    }

    private final AtomicLong syncs = new AtomicLong();
    private static final long BROKEN_LOCK = 13;
    private static final long HELD_LOCK = 14;

    private final Map<Long, MemoryInode> inodes = new ConcurrentHashMap<>();
    private final AtomicLong nextInode = new AtomicLong(2);
    private final AtomicLong nextHandle = new AtomicLong(1);
    private final Set<Long> late = ConcurrentHashMap.newKeySet();
    private final Set<Long> slow = ConcurrentHashMap.newKeySet();
    private final Set<Long> handles = ConcurrentHashMap.newKeySet();
    private final long timeoutNs;
    private final boolean directIo;
    private final boolean locks;
    private volatile boolean closed;
    private volatile @Nullable KernelCache kernel;

    MemoryFileSystem(long timeoutNs, boolean directIo, boolean locks) {
        this.timeoutNs = timeoutNs;
        this.directIo = directIo;
        this.locks = locks;
        MemoryInode root =
                new MemoryInode(
                        ROOT,
                        Stat.DIRECTORY | 0755,
                        Libc.effectiveUid(),
                        Libc.effectiveGid(),
                        0,
                        now());
        root.parent = ROOT;
        inodes.put(ROOT, root);
    }

    static long now() {
        java.time.Instant now = java.time.Instant.now();
        return now.getEpochSecond() * 1_000_000_000L + now.getNano();
    }

    private static void hang() {
        boolean interrupted = false;
        while (!interrupted) {
            try {
                new CountDownLatch(1).await();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
    }

    private static void steps(Caller caller) {
        long endNs = caller.deadlineNs() + 1_000_000_000L;
        caller.patientUntil(endNs + 60_000_000_000L);
        while (endNs - System.nanoTime() > 0) {
            LockSupport.parkNanos(endNs - System.nanoTime());
        }
    }

    private MemoryInode inode(long ino) throws FsException {
        MemoryInode inode = inodes.get(ino);
        if (inode == null) {
            throw FsException.of(Errno.ESTALE);
        }
        return inode;
    }

    private Entry entry(MemoryInode inode) {
        synchronized (inode) {
            inode.lookups++;
        }
        return new Entry(inode.stat(), timeoutNs, timeoutNs);
    }

    @Override
    public void mounted(KernelCache cache) {
        kernel = cache;
    }

    KernelCache kernel() {
        return Objects.requireNonNull(kernel);
    }

    /**
     * As another client would: removes a name below the root, or makes a file of this content;
     * returns its inode.
     */
    synchronized long changeBehindTheKernel(String name, String content) throws FsException {
        byte[] bytes = name.getBytes(StandardCharsets.UTF_8);
        Caller nobody = new Caller(0, 0, 0, 0);
        MemoryInode.Name known = inode(ROOT).names.get(new NameKey(bytes));
        if (content.isEmpty()) {
            unlink(nobody, ROOT, bytes);
            return 0;
        }
        MemoryInode inode =
                known == null
                        ? make(nobody, ROOT, bytes, Stat.REGULAR | 0644, 0)
                        : inode(known.ino());
        ByteBuffer text = ByteBuffer.wrap(content.getBytes(StandardCharsets.UTF_8));
        inode.resize(0, now());
        inode.write(0, text, now());
        return inode.ino;
    }

    /** The inode of a name below the root, or of the root: ".". */
    long inodeOf(String name) throws FsException {
        if (name.equals(".")) {
            return ROOT;
        }
        MemoryInode.Name known =
                inode(ROOT).names.get(new NameKey(name.getBytes(StandardCharsets.UTF_8)));
        return known == null ? 0 : known.ino();
    }

    /** Waits for what the kernel has of files that are read slowly. */
    private void settle() {
        try {
            for (long ino : slow) {
                kernel().awaitInode(ino, 30_000);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Tells the kernel sizes of files that are read slowly. */
    private void store() {
        for (long ino : slow) {
            KernelCache.Doubt doubt = kernel().doubt(ino);
            if (doubt != null) {
                doubt.lengthen(1);
            }
        }
    }

    @Override
    public Entry lookup(Caller caller, long parent, byte[] name) throws FsException {
        String text = new String(name, StandardCharsets.ISO_8859_1);
        if (text.equals("hang")) {
            hang();
        }
        if (text.equals("long")) {
            for (int i = 0; i < 20; i++) {
                LockSupport.parkNanos(100_000_000L);
            }
        }
        if (text.equals("settle")) {
            settle();
        }
        if (text.equals("store")) {
            store();
        }
        if (text.equals("steps")) {
            steps(caller);
        }
        if (text.equals("crash")) {
            throw new IllegalStateException("a name that crashes");
        }
        if (text.equals("groups")) {
            byte[] groups = Arrays.toString(caller.groups()).getBytes(StandardCharsets.UTF_8);
            MemoryInode.Name known = inode(parent).names.get(new NameKey(groups));
            return known == null
                    ? makeNode(caller, parent, groups, Stat.REGULAR | 0644, 0)
                    : entry(inode(known.ino()));
        }
        MemoryInode child;
        synchronized (this) {
            MemoryInode.Name found = inode(parent).names.get(new NameKey(name));
            if (found == null) {
                return Entry.absent(timeoutNs);
            }
            child = inode(found.ino());
        }
        if (text.startsWith("late-")) {
            late.add(child.ino);
        }
        if (text.startsWith("slow-")) {
            slow.add(child.ino);
        }
        return entry(child);
    }

    @Override
    public Entry lookupInode(Caller caller, long ino) throws FsException {
        return entry(inode(ino));
    }

    @Override
    public void forget(long ino, long lookups) {
        MemoryInode inode = inodes.get(ino);
        if (inode == null) {
            return;
        }
        synchronized (inode) {
            inode.lookups -= lookups;
        }
        collect(inode);
    }

    private void collect(MemoryInode inode) {
        synchronized (inode) {
            if (inode.nlink == 0 && inode.lookups <= 0 && inode.open == 0) {
                inodes.remove(inode.ino);
            }
        }
    }

    @Override
    public AttributesReply getAttributes(Caller caller, long ino, long handle) throws FsException {
        return new AttributesReply(inode(ino).stat(), timeoutNs);
    }

    @Override
    public AttributesReply setAttributes(Caller caller, long ino, SetAttributes change)
            throws FsException {
        MemoryInode inode = inode(ino);
        long now = now();
        synchronized (inode) {
            if (change.has(SetAttributes.MODE)) {
                inode.mode = (inode.mode & Stat.TYPE_MASK) | (change.mode() & 07777);
            }
            if (change.has(SetAttributes.UID)) {
                inode.uid = change.uid();
            }
            if (change.has(SetAttributes.GID)) {
                inode.gid = change.gid();
            }
            if (change.has(SetAttributes.SIZE)) {
                inode.resize(change.size(), now);
            }
            if (change.has(SetAttributes.ATIME)) {
                inode.atimeNs = change.has(SetAttributes.ATIME_NOW) ? now : change.atimeNs();
            }
            if (change.has(SetAttributes.MTIME)) {
                inode.mtimeNs = change.has(SetAttributes.MTIME_NOW) ? now : change.mtimeNs();
            }
            if (change.has(SetAttributes.UID | SetAttributes.GID)
                    && !inode.isDirectory()
                    && (inode.mode & 0111) != 0) {
                inode.mode &= ~06000;
            }
            inode.ctimeNs = now;
            return new AttributesReply(inode.stat(), timeoutNs);
        }
    }

    @Override
    public void access(Caller caller, long ino, int mask) throws FsException {
        inode(ino);
    }

    @Override
    public byte[] readLink(Caller caller, long ino) throws FsException {
        return inode(ino).target;
    }

    private synchronized MemoryInode make(
            Caller caller, long parent, byte[] name, int mode, int rdev) throws FsException {
        MemoryInode directory = inode(parent);
        if (name.length > 255) {
            throw FsException.of(Errno.ENAMETOOLONG);
        }
        if (directory.names.containsKey(new NameKey(name))) {
            throw FsException.of(Errno.EEXIST);
        }
        boolean inherits = (directory.mode & 02000) != 0;
        int gid = inherits ? directory.gid : caller.gid();
        MemoryInode inode =
                new MemoryInode(
                        nextInode.getAndIncrement(),
                        mode & ~caller.umask(),
                        caller.uid(),
                        gid,
                        rdev,
                        now());
        if (inode.isDirectory()) {
            inode.mode |= inherits ? 02000 : 0;
            inode.parent = parent;
            directory.nlink++;
        }
        inodes.put(inode.ino, inode);
        insert(directory, name, inode);
        return inode;
    }

    private static void insert(MemoryInode directory, byte[] name, MemoryInode inode) {
        NameKey key = new NameKey(name);
        long cookie = ++directory.lastCookie;
        directory.names.put(
                key, new MemoryInode.Name(inode.ino, inode.mode & Stat.TYPE_MASK, cookie));
        directory.order.put(cookie, key);
        touch(directory);
    }

    private static void touch(MemoryInode directory) {
        directory.mtimeNs = now();
        directory.ctimeNs = directory.mtimeNs;
    }

    @Override
    public Entry makeNode(Caller caller, long parent, byte[] name, int mode, int rdev)
            throws FsException {
        return entry(make(caller, parent, name, mode, rdev));
    }

    @Override
    public Entry makeDirectory(Caller caller, long parent, byte[] name, int mode)
            throws FsException {
        return entry(make(caller, parent, name, mode, 0));
    }

    @Override
    public Entry symbolicLink(Caller caller, long parent, byte[] name, byte[] target)
            throws FsException {
        MemoryInode inode = make(caller, parent, name, Stat.SYMBOLIC_LINK | 0777, 0);
        inode.target = target;
        inode.size = target.length;
        return entry(inode);
    }

    @Override
    public synchronized Entry link(Caller caller, long ino, long newParent, byte[] newName)
            throws FsException {
        MemoryInode directory = inode(newParent);
        MemoryInode inode = inode(ino);
        if (directory.names.containsKey(new NameKey(newName))) {
            throw FsException.of(Errno.EEXIST);
        }
        inode.nlink++;
        inode.ctimeNs = now();
        insert(directory, newName, inode);
        return entry(inode);
    }

    private MemoryInode.Name remove(MemoryInode directory, byte[] name) throws FsException {
        MemoryInode.Name found = directory.names.remove(new NameKey(name));
        if (found == null) {
            throw FsException.of(Errno.ENOENT);
        }
        directory.order.remove(found.cookie());
        touch(directory);
        return found;
    }

    @Override
    public synchronized void unlink(Caller caller, long parent, byte[] name) throws FsException {
        MemoryInode inode = inode(remove(inode(parent), name).ino());
        inode.nlink--;
        inode.ctimeNs = now();
        collect(inode);
    }

    @Override
    public synchronized void removeDirectory(Caller caller, long parent, byte[] name)
            throws FsException {
        MemoryInode directory = inode(parent);
        MemoryInode.Name found = directory.names.get(new NameKey(name));
        if (found == null) {
            throw FsException.of(Errno.ENOENT);
        }
        MemoryInode child = inode(found.ino());
        if (!child.names.isEmpty()) {
            throw FsException.of(Errno.ENOTEMPTY);
        }
        remove(directory, name);
        directory.nlink--;
        child.nlink = 0;
        collect(child);
    }

    @Override
    public synchronized void rename(
            Caller caller, long parent, byte[] name, long newParent, byte[] newName, int flags)
            throws FsException {
        MemoryInode from = inode(parent);
        MemoryInode to = inode(newParent);
        MemoryInode.Name source = from.names.get(new NameKey(name));
        MemoryInode.Name target = to.names.get(new NameKey(newName));
        if (source == null) {
            throw FsException.of(Errno.ENOENT);
        }
        if (target != null && (flags & RENAME_NOREPLACE) != 0) {
            throw FsException.of(Errno.EEXIST);
        }
        boolean exchange = (flags & RENAME_EXCHANGE) != 0;
        if (target == null && exchange) {
            throw FsException.of(Errno.ENOENT);
        }
        if (target != null && target.ino() == source.ino()) {
            return;
        }
        if (target != null && !exchange) {
            if (inode(target.ino()).isDirectory()) {
                removeDirectory(caller, newParent, newName);
            } else {
                unlink(caller, newParent, newName);
            }
        }
        remove(from, name);
        if (target != null && exchange) {
            remove(to, newName);
            attach(from, to, name, inode(target.ino()));
        }
        attach(to, from, newName, inode(source.ino()));
        if ((flags & RENAME_WHITEOUT) != 0) {
            make(caller, parent, name, Stat.CHARACTER_DEVICE, 0);
        }
    }

    private static void attach(
            MemoryInode directory, MemoryInode before, byte[] name, MemoryInode inode) {
        insert(directory, name, inode);
        if (inode.isDirectory()) {
            inode.parent = directory.ino;
            before.nlink--;
            directory.nlink++;
        }
        inode.ctimeNs = now();
    }

    private OpenResult opened(MemoryInode inode) {
        synchronized (inode) {
            inode.open++;
        }
        long handle = nextHandle.getAndIncrement();
        handles.add(handle);
        return new OpenResult(handle, true, directIo);
    }

    private void closed(long ino, long handle) {
        MemoryInode inode = inodes.get(ino);
        if (!handles.remove(handle) || inode == null) {
            throw new IllegalStateException("release of handle " + handle + " that is not open");
        }
        synchronized (inode) {
            inode.open--;
        }
        collect(inode);
    }

    @Override
    public OpenResult open(Caller caller, long ino, int flags) throws FsException {
        MemoryInode inode = inode(ino);
        if (late.contains(ino)) {
            LockSupport.parkNanos(1_000_000_000L);
        }
        if ((flags & OpenFlags.O_TRUNC) != 0) {
            inode.resize(0, now());
        }
        return opened(inode);
    }

    @Override
    public Created create(Caller caller, long parent, byte[] name, int mode, int flags)
            throws FsException {
        if (name[0] == '~') {
            LockSupport.parkNanos(3_000_000_000L);
        }
        MemoryInode inode = make(caller, parent, name, mode, 0);
        return new Created(entry(inode), opened(inode));
    }

    @Override
    public void read(Caller caller, long ino, long handle, long offset, ByteBuffer into)
            throws FsException {
        if (slow.contains(ino)) {
            hang();
        }
        inode(ino).read(offset, into);
    }

    @Override
    public int write(
            Caller caller, long ino, long handle, long offset, ByteBuffer content, int flags)
            throws FsException {
        int size = content.remaining();
        MemoryInode inode = inode(ino);
        synchronized (inode) {
            inode.write((flags & OpenFlags.O_APPEND) != 0 ? inode.size : offset, content, now());
        }
        return size;
    }

    @Override
    public void flush(Caller caller, long ino, long handle) {}

    @Override
    public void release(long ino, long handle) {
        closed(ino, handle);
    }

    @Override
    public void sync(Caller caller, long ino, long handle, boolean dataOnly) {
        syncs.incrementAndGet();
    }

    long syncCount() {
        return syncs.get();
    }

    @Override
    public long seek(Caller caller, long ino, long handle, long offset, int whence)
            throws FsException {
        MemoryInode inode = inode(ino);
        if (offset < 0 || offset >= inode.stat().size()) {
            throw FsException.of(Errno.ENXIO);
        }
        Long found = inode.seek(offset, whence == 3);
        if (found == null) {
            throw FsException.of(Errno.ENXIO);
        }
        return found;
    }

    @Override
    public OpenResult openDirectory(Caller caller, long ino, int flags) throws FsException {
        return opened(inode(ino));
    }

    @Override
    public synchronized void readDirectory(
            Caller caller, long ino, long handle, long cookie, DirectorySink sink)
            throws FsException {
        MemoryInode directory = inode(ino);
        for (Map.Entry<Long, NameKey> each : directory.order.tailMap(cookie, false).entrySet()) {
            MemoryInode.Name name = directory.names.get(each.getValue());
            if (name == null) {
                throw new IllegalStateException("an entry without a name");
            }
            MemoryInode child = inode(name.ino());
            Entry entry =
                    sink.wantsEntries() ? new Entry(child.stat(), timeoutNs, timeoutNs) : null;
            if (!sink.add(each.getValue().bytes(), name.ino(), name.type(), name.cookie(), entry)) {
                return;
            }
            if (entry != null) {
                synchronized (child) {
                    child.lookups++;
                }
            }
        }
    }

    @Override
    public long parentOf(Caller caller, long ino) {
        MemoryInode inode = inodes.get(ino);
        return inode == null ? ino : inode.parent;
    }

    @Override
    public void releaseDirectory(long ino, long handle) {
        closed(ino, handle);
    }

    @Override
    public void syncDirectory(Caller caller, long ino, long handle, boolean dataOnly) {}

    @Override
    public StatFs statFs(Caller caller, long ino) {
        return new StatFs(
                4096, 1 << 20, 1 << 19, 1 << 18, 1_000_000, 1_000_000 - inodes.size(), 255);
    }

    @Override
    public boolean servesLocks() {
        return locks;
    }

    /** Grants all, but for one at {@link #BROKEN_LOCK} and one at {@link #HELD_LOCK}. */
    @Override
    public void lock(Caller caller, long ino, long handle, LockRequest request, boolean wait)
            throws FsException {
        if (request.first() == HELD_LOCK && request.type() != LockRequest.Type.UNLOCK) {
            while (wait && !caller.interrupted()) {
                LockSupport.parkNanos(10_000_000L);
            }
            throw FsException.of(wait ? Errno.EINTR : Errno.EAGAIN);
        }
        if (request.first() == BROKEN_LOCK) {
            throw new NoClassDefFoundError("a part of the program that is gone");
        }
    }

    int inodeCount() {
        return inodes.size();
    }

    int handleCount() {
        return handles.size();
    }

    @Override
    public void close() {
        closed = true;
    }

    boolean isClosed() {
        return closed;
    }
}

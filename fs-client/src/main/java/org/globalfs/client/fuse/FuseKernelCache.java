package org.globalfs.client.fuse;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.globalfs.client.vfs.KernelCache;
import org.globalfs.protocol.Errno;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sends invalidations to the kernel from one thread of its own, in order.
 *
 * <p>The kernel runs a notification inside the write(2) that brings it, and waits there:
 * INVAL_INODE for pages that are being read or written, INVAL_ENTRY and DELETE for the directory's
 * lock, which every request that changes a name in it holds until it is answered. So a notification
 * from the thread that answers such a request never returns.
 */
final class FuseKernelCache implements KernelCache, Runnable {
    private static final Logger log = LoggerFactory.getLogger(FuseKernelCache.class);
    private static final int NAME_MAX = 255;

    private sealed interface Notice {}

    private record InodeNotice(long ino, long offset, long length) implements Notice {}

    private record EntryNotice(long parent, byte[] name, long deletedChild) implements Notice {}

    private record Barrier(CountDownLatch reached) implements Notice {}

    private record End() implements Notice {}

    private final FuseDevice device;
    private final LinkedBlockingQueue<Notice> queue = new LinkedBlockingQueue<>();
    private final MemorySegment memory = Libc.pages(4096);
    private final ByteBuffer bytes = memory.asByteBuffer().order(ByteOrder.nativeOrder());
    private final MemorySegment errnoState = Libc.newState();
    private final Thread thread;
    private volatile boolean ended;

    FuseKernelCache(FuseDevice device, String name) {
        this.device = device;
        thread = Thread.ofPlatform().name("fuse-notify-" + name).daemon().unstarted(this);
    }

    void start() {
        thread.start();
    }

    /** No more notices reach the kernel; waits a little for the one under way. */
    void end() throws InterruptedException {
        ended = true;
        queue.add(new End());
        thread.join(TimeUnit.SECONDS.toMillis(2));
    }

    @Override
    public void invalidateInode(long ino, long offset, long length) {
        queue(new InodeNotice(ino, offset, length));
    }

    @Override
    public void invalidateEntry(long parent, byte[] name) {
        queue(new EntryNotice(parent, name, 0));
    }

    @Override
    public void entryDeleted(long parent, long child, byte[] name) {
        queue(new EntryNotice(parent, name, child));
    }

    private void queue(Notice notice) {
        if (!ended) {
            queue.add(notice);
        }
    }

    @Override
    public boolean await(long timeoutMs) throws InterruptedException {
        if (ended) {
            return true;
        }
        CountDownLatch reached = new CountDownLatch(1);
        queue.add(new Barrier(reached));
        return reached.await(timeoutMs, TimeUnit.MILLISECONDS);
    }

    @Override
    public void run() {
        try {
            while (true) {
                switch (queue.take()) {
                    case InodeNotice n -> sendInode(n);
                    case EntryNotice n -> sendEntry(n);
                    case Barrier b -> b.reached.countDown();
                    case End _ -> {
                        releaseWaiters();
                        return;
                    }
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void releaseWaiters() {
        for (@Nullable Notice left = queue.poll(); left != null; left = queue.poll()) {
            if (left instanceof Barrier(CountDownLatch reached)) {
                reached.countDown();
            }
        }
    }

    private void sendInode(InodeNotice notice) {
        int at = FuseLayout.OutHeader.SIZE_OF;
        bytes.putLong(at + FuseLayout.NotifyInvalInodeOut.INO, notice.ino);
        bytes.putLong(at + FuseLayout.NotifyInvalInodeOut.OFF, notice.offset);
        bytes.putLong(at + FuseLayout.NotifyInvalInodeOut.LEN, notice.length);
        send(FuseFlags.NOTIFY_INVAL_INODE, FuseLayout.NotifyInvalInodeOut.SIZE_OF);
    }

    private void sendEntry(EntryNotice notice) {
        int length = notice.name.length;
        if (length == 0 || length > NAME_MAX) {
            return;
        }
        int at = FuseLayout.OutHeader.SIZE_OF;
        int size;
        bytes.putLong(at + FuseLayout.NotifyInvalEntryOut.PARENT, notice.parent);
        if (notice.deletedChild == 0) {
            bytes.putInt(at + FuseLayout.NotifyInvalEntryOut.NAMELEN, length);
            bytes.putInt(at + FuseLayout.NotifyInvalEntryOut.FLAGS, 0);
            size = FuseLayout.NotifyInvalEntryOut.SIZE_OF;
        } else {
            bytes.putLong(at + FuseLayout.NotifyDeleteOut.CHILD, notice.deletedChild);
            bytes.putInt(at + FuseLayout.NotifyDeleteOut.NAMELEN, length);
            bytes.putInt(at + FuseLayout.NotifyDeleteOut.NAMELEN + 4, 0);
            size = FuseLayout.NotifyDeleteOut.SIZE_OF;
        }
        bytes.put(at + size, notice.name);
        bytes.put(at + size + length, (byte) 0);
        int code =
                notice.deletedChild == 0 ? FuseFlags.NOTIFY_INVAL_ENTRY : FuseFlags.NOTIFY_DELETE;
        send(code, size + length + 1);
    }

    private void send(int code, int size) {
        int total = FuseLayout.OutHeader.SIZE_OF + size;
        bytes.putInt(FuseLayout.OutHeader.LEN, total);
        bytes.putInt(FuseLayout.OutHeader.ERROR, code);
        bytes.putLong(FuseLayout.OutHeader.UNIQUE, 0);
        long result = Libc.write(device.fd(), memory.address(), total, errnoState);
        if (result >= 0 || ended) {
            return;
        }
        switch (Errno.of((int) -result)) {
            // nothing of it is cached; or the mount is being removed; or the name is a directory
            // still in use, or a mountpoint
            case ENOENT, ENODEV, ENOTCONN, ECONNABORTED, ENOTEMPTY, EBUSY, ENOTDIR -> {}
            default -> log.warn("the kernel refused an invalidation: {}", Errno.of((int) -result));
        }
    }
}

package org.globalfs.client.fuse;

import java.nio.ByteBuffer;
import java.util.function.IntConsumer;
import org.globalfs.client.vfs.DirectorySink;
import org.globalfs.client.vfs.Entry;
import org.globalfs.client.vfs.FileSystem;
import org.globalfs.client.vfs.FsException;
import org.globalfs.client.vfs.OpenResult;
import org.globalfs.client.vfs.Stat;
import org.jspecify.annotations.Nullable;

/**
 * Requests on open directories. "." and ".." are added here, at the kernel's offsets 0 and 1;
 * entries of the file system follow from offset 2 on, their cookies raised by 2.
 */
final class DirectoryOperations {
    private static final byte[] SELF = {'.'};
    private static final byte[] PARENT = {'.', '.'};
    private static final int DOTS = 2;

    private final FileSystem fileSystem;
    private final int ioSizeBytes;

    DirectoryOperations(FileSystem fileSystem, int ioSizeBytes) {
        this.fileSystem = fileSystem;
        this.ioSizeBytes = ioSizeBytes;
    }

    void open(Exchange x) throws FsException {
        OpenResult result =
                fileSystem.openDirectory(x.caller(), x.node(), x.int32(FuseLayout.OpenIn.FLAGS));
        x.opened(x.node(), result.handle(), true);
        int at = x.clear(FuseLayout.OpenOut.SIZE_OF);
        FileOperations.putOpen(x.memory(), at, result);
        x.answer(FuseLayout.OpenOut.SIZE_OF);
    }

    void read(Exchange x) throws FsException {
        list(x, new Listing(x, x.int32(FuseLayout.ReadIn.SIZE), false, ioSizeBytes));
    }

    void readWithEntries(Exchange x) throws FsException {
        list(x, new Listing(x, x.int32(FuseLayout.ReadIn.SIZE), true, ioSizeBytes));
    }

    private void list(Exchange x, Listing listing) throws FsException {
        long node = x.node();
        long handle = x.int64(FuseLayout.ReadIn.FH);
        long offset = x.int64(FuseLayout.ReadIn.OFFSET);
        boolean room = true;
        if (offset == 0) {
            room = listing.put(SELF, node, Stat.DIRECTORY, 1, null);
        }
        if (room && offset <= 1) {
            long parent = fileSystem.parentOf(x.caller(), node);
            room = listing.put(PARENT, parent, Stat.DIRECTORY, DOTS, null);
        }
        if (room) {
            long cookie = Math.max(0, offset - DOTS);
            try {
                fileSystem.readDirectory(x.caller(), node, handle, cookie, listing);
            } catch (FsException | RuntimeException | Error e) {
                listing.forgetAll(fileSystem);
                throw e;
            }
        }
        x.answerFromPayload(listing.size());
    }

    void release(Exchange x) {
        fileSystem.releaseDirectory(x.node(), x.int64(FuseLayout.ReleaseIn.FH));
        x.answerEmpty();
    }

    void sync(Exchange x) throws FsException {
        boolean dataOnly =
                (x.int32(FuseLayout.FsyncIn.FSYNC_FLAGS) & FuseFlags.FSYNC_FDATASYNC) != 0;
        fileSystem.syncDirectory(x.caller(), x.node(), x.int64(FuseLayout.FsyncIn.FH), dataOnly);
        x.answerEmpty();
    }

    /** Takes back the lookups that a listing with entries, made in this memory, has counted. */
    static void forgetListed(ByteBuffer memory, int size, FileSystem fileSystem) {
        forEachListed(
                memory,
                size,
                at -> {
                    long node = memory.getLong(at + FuseLayout.EntryOut.NODEID);
                    if (node != 0) {
                        fileSystem.forget(node, 1);
                    }
                });
    }

    /** Visits the place of each entry of a listing with entries. */
    static void forEachListed(ByteBuffer memory, int size, IntConsumer visitor) {
        int at = Exchange.PAYLOAD;
        int end = Exchange.PAYLOAD + size;
        while (at < end) {
            visitor.accept(at);
            int length =
                    memory.getInt(at + FuseLayout.EntryOut.SIZE_OF + FuseLayout.Dirent.NAMELEN);
            at += Listing.align(FuseLayout.EntryOut.SIZE_OF + FuseLayout.Dirent.NAME + length);
        }
    }

    /** A listing under way in the payload's memory. */
    private static final class Listing implements DirectorySink {
        private final Exchange exchange;
        private final ByteBuffer memory;
        private final int end;
        private final boolean withEntries;
        private final int ioSizeBytes;
        private int at = Exchange.PAYLOAD;

        Listing(Exchange exchange, int size, boolean withEntries, int ioSizeBytes) {
            this.exchange = exchange;
            this.memory = exchange.memory();
            this.end = Exchange.PAYLOAD + Math.min(size, Exchange.MAX_TRANSFER);
            this.withEntries = withEntries;
            this.ioSizeBytes = ioSizeBytes;
        }

        static int align(int size) {
            return (size + 7) & ~7;
        }

        int size() {
            return at - Exchange.PAYLOAD;
        }

        @Override
        public boolean wantsEntries() {
            return withEntries;
        }

        @Override
        public boolean add(byte[] name, long ino, int type, long cookie, @Nullable Entry entry) {
            return put(name, ino, type, cookie + DOTS, entry);
        }

        boolean put(byte[] name, long ino, int type, long offset, @Nullable Entry entry) {
            int prefix = withEntries ? FuseLayout.EntryOut.SIZE_OF : 0;
            int size = align(prefix + FuseLayout.Dirent.NAME + name.length);
            if (at + size > end) {
                return false;
            }
            for (int i = at; i < at + size; i += 8) {
                memory.putLong(i, 0);
            }
            if (withEntries && entry != null) {
                exchange.timeouts(System.nanoTime());
                Attributes.putEntry(memory, at, entry, ioSizeBytes);
            }
            int dirent = at + prefix;
            memory.putLong(dirent + FuseLayout.Dirent.INO, ino);
            memory.putLong(dirent + FuseLayout.Dirent.OFF, offset);
            memory.putInt(dirent + FuseLayout.Dirent.NAMELEN, name.length);
            memory.putInt(dirent + FuseLayout.Dirent.TYPE, (type & Stat.TYPE_MASK) >>> 12);
            memory.put(dirent + FuseLayout.Dirent.NAME, name);
            at += size;
            return true;
        }

        void forgetAll(FileSystem fileSystem) {
            if (withEntries) {
                forgetListed(memory, size(), fileSystem);
            }
        }
    }
}

package org.globalfs.client.vfs;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ThreadFactory;
import org.globalfs.client.FakeBlockStore;
import org.globalfs.client.FakeCluster;
import org.globalfs.client.io.IoOptions;
import org.globalfs.client.meta.MetadataClient;
import org.globalfs.client.meta.Session;
import org.globalfs.client.meta.SessionLease;

/** A file system over a {@link FakeCluster}, and short ways to use it. */
final class TestClient implements AutoCloseable {

    static final IoOptions SLOW_FLUSH = options(Duration.ofMinutes(10), 32 << 20, false);

    final MetadataClient metadata;
    final GlobalFileSystem fs;
    int uid;
    int[] groups = {};

    TestClient(FakeCluster cluster, FakeBlockStore blocks, int region, IoOptions options) {
        this(cluster, blocks, region, options, Duration.ofSeconds(60));
    }

    TestClient(
            FakeCluster cluster,
            FakeBlockStore blocks,
            int region,
            IoOptions options,
            Duration lease) {
        this(cluster, blocks, region, options, lease, Thread.ofPlatform().daemon().factory());
    }

    TestClient(
            FakeCluster cluster,
            FakeBlockStore blocks,
            int region,
            IoOptions options,
            Duration lease,
            ThreadFactory listening) {
        metadata =
                new MetadataClient(
                        Session.begin(),
                        cluster.calls(),
                        cluster,
                        region,
                        "region" + region,
                        "dc1");
        fs =
                new GlobalFileSystem(
                        metadata,
                        blocks,
                        options,
                        16 << 20,
                        () -> 0,
                        new SessionLease(metadata, lease),
                        null,
                        listening);
    }

    static IoOptions options(Duration flushDelay, long flushBytes, boolean sync) {
        return options(16 << 10, flushDelay, flushBytes, sync);
    }

    static IoOptions options(
            int inlineMaxBytes, Duration flushDelay, long flushBytes, boolean sync) {
        return new IoOptions(
                inlineMaxBytes,
                flushBytes,
                64 << 20,
                64 << 20,
                flushDelay,
                Duration.ofSeconds(10),
                sync);
    }

    Caller caller() {
        return Caller.of(uid, uid, groups, System.nanoTime() + 30_000_000_000L);
    }

    static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    static Stat stat(Entry entry) {
        return Objects.requireNonNull(entry.stat());
    }

    long mkdir(long parent, String name) throws FsException {
        return stat(fs.makeDirectory(caller(), parent, bytes(name), 0755)).ino();
    }

    long lookup(long parent, String name) throws FsException {
        Stat stat = fs.lookup(caller(), parent, bytes(name)).stat();
        if (stat == null) {
            throw FsException.of(org.globalfs.protocol.Errno.ENOENT);
        }
        return stat.ino();
    }

    /** An open file: inode and handle. */
    record Open(long ino, long handle, int flags) {}

    Open create(long parent, String name) throws FsException {
        return create(parent, name, OpenFlags.O_RDWR | OpenFlags.O_CREAT | OpenFlags.O_EXCL);
    }

    Open create(long parent, String name, int flags) throws FsException {
        Created created = fs.create(caller(), parent, bytes(name), 0644, flags);
        return new Open(stat(created.entry()).ino(), created.open().handle(), flags);
    }

    Open open(long ino, int flags) throws FsException {
        return new Open(ino, fs.open(caller(), ino, flags).handle(), flags);
    }

    void write(Open file, long offset, byte[] content) throws FsException {
        ByteBuffer buffer = ByteBuffer.wrap(content);
        while (buffer.hasRemaining()) {
            fs.write(
                    caller(),
                    file.ino,
                    file.handle,
                    offset + buffer.position(),
                    buffer,
                    file.flags);
        }
    }

    byte[] read(Open file, long offset, int length) throws FsException {
        ByteBuffer into = ByteBuffer.allocateDirect(length);
        fs.read(caller(), file.ino, file.handle, offset, into);
        byte[] result = new byte[into.flip().remaining()];
        into.get(result);
        return result;
    }

    void flush(Open file) throws FsException {
        fs.flush(caller(), file.ino, file.handle);
    }

    void close(Open file) throws FsException {
        try {
            flush(file);
        } finally {
            fs.release(file.ino, file.handle);
        }
    }

    byte[] content(long ino) throws FsException {
        Open file = open(ino, OpenFlags.O_RDONLY);
        try {
            return read(file, 0, 1 << 20);
        } finally {
            fs.release(file.ino, file.handle);
        }
    }

    void put(long parent, String name, String content) throws FsException {
        Open file =
                create(parent, name, OpenFlags.O_WRONLY | OpenFlags.O_CREAT | OpenFlags.O_TRUNC);
        write(file, 0, bytes(content));
        close(file);
    }

    Stat stat(long ino) throws FsException {
        return fs.getAttributes(caller(), ino, FileSystem.NO_HANDLE).stat();
    }

    void set(long ino, int what, long value, long handle) throws FsException {
        fs.setAttributes(
                caller(),
                ino,
                new SetAttributes(
                        what, (int) value, (int) value, (int) value, value, value, value, handle));
    }

    /** Names in order, read with room for a few entries at a time. */
    List<String> list(long directory, int room) throws FsException {
        return list(directory, room, room, name -> {});
    }

    /** What a program does with an entry that it has just read. */
    interface Visitor {
        void entry(String name) throws FsException;
    }

    /**
     * As the kernel lists for a program with a small buffer.
     *
     * @param room entries that the kernel asks for at a time
     * @param passedOn those of them that the program has room for: the rest is asked for again
     */
    List<String> list(long directory, int room, int passedOn, Visitor visitor) throws FsException {
        long handle = fs.openDirectory(caller(), directory, 0).handle();
        List<String> names = new ArrayList<>();
        long cookie = 0;
        ListedEntries listed;
        do {
            listed = new ListedEntries(room);
            fs.readDirectory(caller(), directory, handle, cookie, listed);
            List<ListedEntries.Listed> read =
                    listed.taken().subList(0, Math.min(passedOn, listed.taken().size()));
            for (ListedEntries.Listed entry : read) {
                visitor.entry(entry.name());
                names.add(entry.name());
                cookie = entry.cookie();
            }
        } while (!listed.taken().isEmpty());
        fs.releaseDirectory(directory, handle);
        return names;
    }

    @Override
    public void close() {
        fs.close();
    }
}

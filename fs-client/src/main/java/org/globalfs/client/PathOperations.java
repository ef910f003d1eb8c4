package org.globalfs.client;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Supplier;
import org.globalfs.client.vfs.Caller;
import org.globalfs.client.vfs.Created;
import org.globalfs.client.vfs.DirectorySink;
import org.globalfs.client.vfs.Entry;
import org.globalfs.client.vfs.FileSystem;
import org.globalfs.client.vfs.FsException;
import org.globalfs.client.vfs.OpenFlags;
import org.globalfs.client.vfs.OpenResult;
import org.globalfs.client.vfs.Stat;
import org.globalfs.protocol.Errno;
import org.jspecify.annotations.Nullable;

/**
 * Files by absolute paths, whole files at a time: for tools, tests and programs that do without a
 * mount. Symbolic links are not followed.
 */
public final class PathOperations {

    private static final int TRANSFER_BYTES = 1 << 20;

    private final FileSystem fileSystem;
    private final Supplier<Caller> callers;

    PathOperations(FileSystem fileSystem, Supplier<Caller> callers) {
        this.fileSystem = fileSystem;
        this.callers = callers;
    }

    private record Place(long directory, byte[] name) {}

    public Stat stat(String path) throws FsException {
        List<String> names = names(path);
        if (names.isEmpty()) {
            return fileSystem
                    .getAttributes(callers.get(), FileSystem.ROOT, FileSystem.NO_HANDLE)
                    .stat();
        }
        Place place = place(path);
        Stat found = lookup(place.directory, place.name);
        if (found == null) {
            throw FsException.of(Errno.ENOENT, path);
        }
        return fileSystem.getAttributes(callers.get(), found.ino(), FileSystem.NO_HANDLE).stat();
    }

    public boolean exists(String path) throws FsException {
        try {
            stat(path);
            return true;
        } catch (FsException e) {
            if (e.errno() == Errno.ENOENT) {
                return false;
            }
            throw e;
        }
    }

    public void makeDirectory(String path, int mode) throws FsException {
        Place place = place(path);
        fileSystem.makeDirectory(callers.get(), place.directory, place.name, mode);
    }

    /** Replaces or creates a file; committed when this returns. */
    public void write(String path, byte[] content) throws FsException {
        write(path, content, OpenFlags.O_TRUNC);
    }

    /** Adds to the end of a file, creating it if need be; committed when this returns. */
    public void append(String path, byte[] content) throws FsException {
        write(path, content, OpenFlags.O_APPEND);
    }

    private void write(String path, byte[] content, int flags) throws FsException {
        Place place = place(path);
        int all = flags | OpenFlags.O_WRONLY | OpenFlags.O_CREAT;
        Created created = fileSystem.create(callers.get(), place.directory, place.name, 0644, all);
        Stat stat = java.util.Objects.requireNonNull(created.entry().stat());
        long handle = created.open().handle();
        try {
            long offset = (flags & OpenFlags.O_APPEND) != 0 ? stat.size() : 0;
            ByteBuffer bytes = ByteBuffer.wrap(content);
            while (bytes.hasRemaining()) {
                offset += fileSystem.write(callers.get(), stat.ino(), handle, offset, bytes, all);
            }
            fileSystem.flush(callers.get(), stat.ino(), handle);
        } finally {
            fileSystem.release(stat.ino(), handle);
        }
    }

    public byte[] read(String path) throws FsException {
        Stat stat = stat(path);
        OpenResult open = fileSystem.open(callers.get(), stat.ino(), OpenFlags.O_RDONLY);
        try {
            byte[] result = new byte[0];
            ByteBuffer buffer = ByteBuffer.allocate(TRANSFER_BYTES);
            while (true) {
                buffer.clear();
                fileSystem.read(callers.get(), stat.ino(), open.handle(), result.length, buffer);
                int count = buffer.flip().remaining();
                int length = result.length;
                result = Arrays.copyOf(result, length + count);
                buffer.get(result, length, count);
                if (count < TRANSFER_BYTES) {
                    return result;
                }
            }
        } finally {
            fileSystem.release(stat.ino(), open.handle());
        }
    }

    public void remove(String path) throws FsException {
        Place place = place(path);
        Stat found = lookup(place.directory, place.name);
        if (found != null && found.isDirectory()) {
            fileSystem.removeDirectory(callers.get(), place.directory, place.name);
        } else {
            fileSystem.unlink(callers.get(), place.directory, place.name);
        }
    }

    public void rename(String from, String to) throws FsException {
        Place source = place(from);
        Place target = place(to);
        fileSystem.rename(
                callers.get(), source.directory, source.name, target.directory, target.name, 0);
    }

    /** The names in a directory. */
    public List<String> list(String path) throws FsException {
        long ino = stat(path).ino();
        OpenResult open = fileSystem.openDirectory(callers.get(), ino, OpenFlags.O_RDONLY);
        try {
            List<String> result = new ArrayList<>();
            fileSystem.readDirectory(
                    callers.get(),
                    ino,
                    open.handle(),
                    0,
                    new DirectorySink() {
                        @Override
                        public boolean wantsEntries() {
                            return false;
                        }

                        @Override
                        public boolean add(
                                byte[] name,
                                long child,
                                int type,
                                long cookie,
                                @Nullable Entry entry) {
                            result.add(new String(name, StandardCharsets.UTF_8));
                            return true;
                        }
                    });
            return result;
        } finally {
            fileSystem.releaseDirectory(ino, open.handle());
        }
    }

    private static List<String> names(String path) {
        List<String> names = new ArrayList<>();
        for (String name : path.split("/", -1)) {
            if (!name.isEmpty()) {
                names.add(name);
            }
        }
        return names;
    }

    private Place place(String path) throws FsException {
        List<String> names = names(path);
        if (names.isEmpty()) {
            throw FsException.of(Errno.EINVAL, "the root has no name");
        }
        long directory = FileSystem.ROOT;
        for (String name : names.subList(0, names.size() - 1)) {
            Stat found = lookup(directory, name.getBytes(StandardCharsets.UTF_8));
            if (found == null) {
                throw FsException.of(Errno.ENOENT, path);
            }
            if (!found.isDirectory()) {
                throw FsException.of(Errno.ENOTDIR, path);
            }
            directory = found.ino();
        }
        return new Place(directory, names.getLast().getBytes(StandardCharsets.UTF_8));
    }

    private @Nullable Stat lookup(long directory, byte[] name) throws FsException {
        try {
            return fileSystem.lookup(callers.get(), directory, name).stat();
        } catch (FsException e) {
            if (e.errno() == Errno.ENOENT) {
                return null;
            }
            throw e;
        }
    }
}

package org.globalfs.cli.server;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Objects;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.globalfs.cli.ExitCode;
import org.globalfs.cli.Failure;
import org.globalfs.protocol.Folders;
import org.globalfs.protocol.config.ConfigException;
import org.globalfs.protocol.config.Roles;
import org.globalfs.protocol.config.ServerConfig;
import org.globalfs.protocol.config.Yaml;

/**
 * A server's data folder: marked with the cluster and server that it belongs to, and locked while
 * in use, so that no two processes and no two clusters ever share one.
 */
final class ServerFolder implements AutoCloseable {
    private static final String MARKER = "cluster";
    private static final String LOCK = "lock";

    /**
     * What a folder without a marker may hold: a disk's own, and what a first start leaves that
     * ended before it wrote the marker.
     */
    private static final Set<String> BEFORE_MARKER = Set.of("lost+found", LOCK, MARKER + ".new");

    /** What a server's launcher may be told to put into the folder. */
    private static final Pattern OF_LAUNCHERS = Pattern.compile(".*\\.(pid|ready|log)");

    private final FileLock lock;

    private ServerFolder(FileLock lock) {
        this.lock = lock;
    }

    static ServerFolder claim(ServerConfig config) throws Failure, ConfigException, IOException {
        Path folder = config.data();
        try {
            Folders.createPrivate(folder);
        } catch (FileAlreadyExistsException | AccessDeniedException e) {
            throw new Failure(
                    ExitCode.CONFIG,
                    "data folder " + folder + " cannot be made: choose another with the key 'data'",
                    e);
        } catch (FileSystemException e) {
            throw unusable(folder, e);
        }
        try {
            return claim(config, folder);
        } catch (FileSystemException e) {
            throw unusable(folder, e);
        }
    }

    static Failure unusable(Path folder, FileSystemException cause) {
        String why =
                cause instanceof AccessDeniedException
                        ? "user '" + System.getProperty("user.name") + "' may not use it"
                        : Objects.requireNonNullElse(
                                cause.getReason(), cause.getClass().getSimpleName());
        return new Failure(
                ExitCode.CONFIG,
                "data folder "
                        + folder
                        + " cannot be used: "
                        + cause.getFile()
                        + ": "
                        + why
                        + ": mend that, or choose another folder with the key 'data'");
    }

    private static ServerFolder claim(ServerConfig config, Path folder)
            throws Failure, ConfigException, IOException {
        if (!Files.exists(folder.resolve(MARKER))) {
            refuseOthers(config, folder);
        }
        FileLock lock = lock(folder);
        boolean claimed = false;
        try {
            mark(config, folder.resolve(MARKER));
            claimed = true;
        } finally {
            if (!claimed) {
                lock.acquiredBy().close();
            }
        }
        return new ServerFolder(lock);
    }

    /** A mistyped path must not make somebody else's folder ours. */
    private static void refuseOthers(ServerConfig config, Path folder) throws Failure, IOException {
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(folder)) {
            for (Path entry : entries) {
                if (!mayBeThere(config, entry)) {
                    throw new Failure(
                            ExitCode.CONFIG,
                            "data folder "
                                    + folder
                                    + " holds something else ("
                                    + entry.getFileName()
                                    + "): choose an empty or new folder with the key 'data'");
                }
            }
        }
    }

    private static boolean mayBeThere(ServerConfig config, Path entry) {
        String name = String.valueOf(entry.getFileName());
        return BEFORE_MARKER.contains(name)
                || OF_LAUNCHERS.matcher(name).matches() && Files.isRegularFile(entry)
                || rolesFolders(config).anyMatch(folder -> folder.startsWith(entry));
    }

    /** Mountpoints of disks of their own may have been made below the data folder. */
    private static Stream<Path> rolesFolders(ServerConfig config) {
        return Stream.concat(
                config.roles().storage().stream().map(Roles.StorageRole::data),
                config.roles().cache().stream().map(Roles.CacheRole::data));
    }

    private static FileLock lock(Path folder) throws Failure, IOException {
        Path path = folder.resolve(LOCK);
        FileChannel channel =
                FileChannel.open(
                        path,
                        StandardOpenOption.CREATE,
                        StandardOpenOption.READ,
                        StandardOpenOption.WRITE);
        FileLock lock;
        try {
            lock = channel.tryLock();
        } catch (OverlappingFileLockException e) {
            lock = null;
        }
        if (lock == null) {
            String holder = Files.readString(path, StandardCharsets.ISO_8859_1).trim();
            channel.close();
            throw new Failure(
                    ExitCode.ALREADY_RUNNING,
                    "data folder " + folder + " is in use by process " + holder + ": end it first");
        }
        channel.truncate(0);
        byte[] pid = (ProcessHandle.current().pid() + "\n").getBytes(StandardCharsets.US_ASCII);
        channel.write(ByteBuffer.wrap(pid), 0);
        return lock;
    }

    private static void mark(ServerConfig config, Path marker)
            throws Failure, ConfigException, IOException {
        if (!Files.exists(marker)) {
            Folders.write(
                    marker, "cluster: " + config.cluster() + "\nserver: " + config.name() + "\n");
            return;
        }
        Yaml yaml = Yaml.read(marker);
        String cluster = yaml.text("cluster");
        String server = yaml.text("server");
        yaml.finish();
        if (!cluster.equals(config.cluster())) {
            throw new Failure(
                    ExitCode.CONFIG,
                    "data folder "
                            + config.data()
                            + " belongs to cluster '"
                            + cluster
                            + "', not to '"
                            + config.cluster()
                            + "': correct the key 'data' or 'cluster'");
        }
        if (!server.equals(config.name())) {
            throw new Failure(
                    ExitCode.CONFIG,
                    "data folder "
                            + config.data()
                            + " belongs to server '"
                            + server
                            + "', not to '"
                            + config.name()
                            + "': correct the key 'data' or 'name'");
        }
    }

    @Override
    public void close() throws IOException {
        lock.acquiredBy().close();
    }
}

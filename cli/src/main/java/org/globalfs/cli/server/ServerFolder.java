package org.globalfs.cli.server;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.globalfs.cli.ExitCode;
import org.globalfs.cli.Failure;
import org.globalfs.protocol.Folders;
import org.globalfs.protocol.config.ConfigException;
import org.globalfs.protocol.config.ServerConfig;
import org.globalfs.protocol.config.Yaml;

/**
 * A server's data folder: marked with the cluster and server that it belongs to, and locked while
 * in use, so that no two processes and no two clusters ever share one.
 */
final class ServerFolder implements AutoCloseable {
    private final FileLock lock;

    private ServerFolder(FileLock lock) {
        this.lock = lock;
    }

    static ServerFolder claim(ServerConfig config) throws Failure, ConfigException, IOException {
        Path folder = config.data();
        try {
            Folders.create(folder);
        } catch (FileAlreadyExistsException | AccessDeniedException e) {
            throw new Failure(
                    ExitCode.CONFIG,
                    "data folder " + folder + " cannot be made: choose another with the key 'data'",
                    e);
        }
        FileLock lock = lock(folder);
        boolean claimed = false;
        try {
            mark(config, folder.resolve("cluster"));
            claimed = true;
        } finally {
            if (!claimed) {
                lock.acquiredBy().close();
            }
        }
        return new ServerFolder(lock);
    }

    private static FileLock lock(Path folder) throws Failure, IOException {
        Path path = folder.resolve("lock");
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

package org.globalfs.protocol.discovery;

import java.io.File;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.InetSocketAddress;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.function.Consumer;
import org.apache.zookeeper.server.NIOServerCnxnFactory;
import org.apache.zookeeper.server.ZooKeeperServer;
import org.apache.zookeeper.server.persistence.FileTxnSnapLog;
import org.globalfs.protocol.Disk;
import org.globalfs.protocol.Folders;
import org.globalfs.protocol.HostPort;

/** One ZooKeeper server inside this process, for development and tests; its folder is kept. */
public final class EmbeddedZooKeeper implements AutoCloseable {
    private static final int TICK_MS = 2_000;
    private static final int MAX_CONNECTIONS = 1_000;

    /** Where ZooKeeper keeps its files, in the folder that it is given. */
    private static final String VERSION = "version-2";

    /** By the number of its first transaction. */
    private static final String FIRST_LOG = "log.1";

    private final NIOServerCnxnFactory connections;
    private final ZooKeeperServer server;
    private final FileTxnSnapLog log;
    private final HostPort address;

    private EmbeddedZooKeeper(
            NIOServerCnxnFactory connections,
            ZooKeeperServer server,
            FileTxnSnapLog log,
            HostPort address) {
        this.connections = connections;
        this.server = server;
        this.log = log;
        this.address = address;
    }

    /** Serves no more once it cannot write its log, and would not by itself later. */
    private static final class Server extends ZooKeeperServer {
        private final Path folder;
        private final Consumer<Throwable> onFatal;

        Server(Path folder, FileTxnSnapLog log, Consumer<Throwable> onFatal) throws IOException {
            super(log, TICK_MS, "");
            this.folder = folder;
            this.onFatal = onFatal;
        }

        /**
         * Or a power cut could leave an empty file of it, and a log that ZooKeeper does not trust.
         */
        @Override
        public File takeSnapshot() throws IOException {
            File snapshot = takeSnapshot(true);
            Folders.sync(folder.resolve(VERSION));
            return snapshot;
        }

        @Override
        protected void setState(State state) {
            super.setState(state);
            if (state == State.ERROR) {
                onFatal.accept(
                        new IOException(
                                "the embedded ZooKeeper stopped; the cause is logged before. If the disk of "
                                        + folder
                                        + " is full: "
                                        + Disk.FULL_REMEDY));
            }
        }
    }

    /**
     * Starts at an address; port 0 takes a free one.
     *
     * @param onFatal told when it cannot go on, for want of disk space for instance: the process
     *     should end
     * @throws java.net.BindException the port is taken
     */
    public static EmbeddedZooKeeper start(
            Path folder, String bind, int port, Consumer<Throwable> onFatal) throws IOException {
        // The admin server needs Jetty; SASL needs a login configuration: neither is here.
        System.setProperty("zookeeper.admin.enableServer", "false");
        System.setProperty("zookeeper.sasl.client", "false");
        System.setProperty("zookeeper.4lw.commands.whitelist", "srvr,mntr");
        Files.createDirectories(folder);
        checkAccess(folder);
        FileTxnSnapLog log = openLog(folder);
        ZooKeeperServer server = new Server(folder, log, onFatal);
        NIOServerCnxnFactory connections = new NIOServerCnxnFactory();
        try {
            connections.configure(new InetSocketAddress(bind, port), MAX_CONNECTIONS);
            connections.startup(server);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            connections.shutdown();
            throw new InterruptedIOException("interrupted while ZooKeeper was starting");
        } catch (IOException | RuntimeException e) {
            connections.shutdown();
            log.close();
            throw e;
        }
        return new EmbeddedZooKeeper(
                connections, server, log, new HostPort(bind, connections.getLocalPort()));
    }

    /**
     * Without a snapshot ZooKeeper calls its log broken, for there may have been one. As long as
     * the log has its beginning, which nobody deletes here, it tells everything.
     */
    private static synchronized FileTxnSnapLog openLog(Path folder) throws IOException {
        boolean isWhole = Files.exists(folder.resolve(VERSION).resolve(FIRST_LOG));
        System.setProperty(
                FileTxnSnapLog.ZOOKEEPER_SNAPSHOT_TRUST_EMPTY, Boolean.toString(isWhole));
        return new FileTxnSnapLog(folder.toFile(), folder.toFile());
    }

    /** ZooKeeper takes a snapshot that it may not read for none, and then calls its log broken. */
    private static void checkAccess(Path folder) throws IOException {
        Files.walkFileTree(
                folder,
                new SimpleFileVisitor<>() {
                    @Override
                    public FileVisitResult preVisitDirectory(Path each, BasicFileAttributes read)
                            throws IOException {
                        return check(each, Files.isWritable(each));
                    }

                    @Override
                    public FileVisitResult visitFile(Path each, BasicFileAttributes read)
                            throws IOException {
                        return check(each, Files.isReadable(each));
                    }

                    private static FileVisitResult check(Path each, boolean usable)
                            throws AccessDeniedException {
                        if (!usable) {
                            throw new AccessDeniedException(each.toString());
                        }
                        return FileVisitResult.CONTINUE;
                    }
                });
    }

    public HostPort address() {
        return address;
    }

    public String connectString() {
        return address.toString();
    }

    @Override
    public void close() throws IOException {
        connections.shutdown();
        server.shutdown();
        log.close();
    }
}

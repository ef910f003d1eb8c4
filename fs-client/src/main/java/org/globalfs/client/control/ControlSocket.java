package org.globalfs.client.control;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.Channels;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.globalfs.client.fuse.Mount;
import org.globalfs.client.vfs.Caller;
import org.globalfs.client.vfs.Explanation;
import org.globalfs.client.vfs.FileSystem;
import org.globalfs.client.vfs.FsException;
import org.globalfs.client.vfs.QuotaUsage;
import org.globalfs.protocol.AcceptTrouble;
import org.globalfs.protocol.Errno;
import org.globalfs.protocol.placement.MoveRule;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Serves a mount's control socket. A request is one line; {@code stats} is answered with one JSON
 * document, {@code trace} with a line an operation until the asker leaves, {@code quotas} with a
 * line a quota, {@code place INODE} with a line a region, {@code explain INODE} with an {@link
 * Explanation}'s lines, {@code move INODE REGION} with a line now and then. Only the user who
 * mounted, and root, can connect.
 */
public final class ControlSocket implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(ControlSocket.class);
    private static final int TRACED_LINES = 10_000;
    private static final int POLL_MS = 200;

    /** Requests whose answers say where they end: one that is cut off is none. */
    private static final Set<String> WHOLE = Set.of("place", "explain", "policy", "quotas");

    private static final long ACCEPT_PAUSE_NS = 100_000_000L;
    private static final long PATIENCE_NS = 30_000_000_000L;
    private static final long TREE_PATIENCE_NS = TimeUnit.HOURS.toNanos(24);

    private final Mount mount;
    private final FileSystem fileSystem;
    private final long startedNs = System.nanoTime();
    private final Path path;
    private final ServerSocketChannel server;

    private ControlSocket(
            Mount mount, FileSystem fileSystem, Path path, ServerSocketChannel server) {
        this.mount = mount;
        this.fileSystem = fileSystem;
        this.path = path;
        this.server = server;
    }

    /** Serves until {@link #close}. */
    public static ControlSocket serve(Mount mount, FileSystem fileSystem) throws IOException {
        UnixDomainSocketAddress address =
                ControlAddress.of(ControlAddress.mount(mount.mountpoint()));
        Path path = address.getPath();
        privateFolder(path);
        // The device number is this mount's alone now: what is there is a dead one's.
        Files.deleteIfExists(path);
        ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
        try {
            server.bind(address);
        } catch (IOException e) {
            server.close();
            throw new IOException(
                    "the control socket " + path + " cannot be made: " + e.getMessage(), e);
        }
        ControlSocket control = new ControlSocket(mount, fileSystem, path, server);
        Thread.ofVirtual().name("control").start(control::accept);
        return control;
    }

    private static void privateFolder(Path socket) throws IOException {
        Path folder = socket.getParent();
        try {
            Files.createDirectory(
                    folder,
                    PosixFilePermissions.asFileAttribute(
                            PosixFilePermissions.fromString("rwx------")));
        } catch (FileAlreadyExistsException e) {
            if (!Files.getOwner(folder).equals(Files.getOwner(Path.of("/proc/self")))) {
                throw new IOException(folder + " belongs to somebody else: remove it", e);
            }
        }
    }

    private void accept() {
        AcceptTrouble trouble = new AcceptTrouble(log, "the control socket " + path);
        while (server.isOpen()) {
            try {
                SocketChannel asker = server.accept();
                Thread.ofVirtual().name("control-asker").start(() -> answer(asker));
            } catch (ClosedChannelException closed) {
                return;
            } catch (IOException e) {
                trouble.failed(e, System.nanoTime());
                LockSupport.parkNanos(ACCEPT_PAUSE_NS);
            }
        }
    }

    private void answer(SocketChannel asker) {
        try (asker;
                Writer out = Channels.newWriter(asker, StandardCharsets.UTF_8)) {
            String request =
                    new BufferedReader(
                                    new InputStreamReader(
                                            Channels.newInputStream(asker), StandardCharsets.UTF_8))
                            .readLine();
            String[] words = request == null ? new String[] {""} : request.split(" ", 3);
            switch (words[0]) {
                case "place" -> place(out, words);
                case "explain" -> explain(out, words);
                case "policy" -> policy(out, words);
                case "move" -> move(out, words);
                case "stats" -> out.write(new MountReport(mount, fileSystem, startedNs).json());
                case "trace" -> trace(out);
                case "quotas" -> quotas(out);
                default -> out.write("error: no such request: " + request + "\n");
            }
            if (WHOLE.contains(words[0])) {
                out.write(ControlClient.END + "\n");
            }
        } catch (IOException left) {
            log.debug("an asker at {} left", path, left);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (RuntimeException | Error e) {
            // Whatever it is, the mount does not end by being asked.
            log.warn("an asker at {} is left without an answer", path, e);
        }
    }

    /** A line a region. */
    private void place(Writer out, String[] words) throws IOException {
        try {
            Map<String, Long> counts =
                    fileSystem.placement(patient(), Long.parseUnsignedLong(words[1]));
            for (Map.Entry<String, Long> count : counts.entrySet()) {
                out.write(count.getKey() + " " + count.getValue() + "\n");
            }
        } catch (FsException e) {
            out.write("error: " + told(e) + "\n");
        }
    }

    private void explain(Writer out, String[] words) throws IOException {
        try {
            Explanation explanation =
                    fileSystem.explain(patient(), Long.parseUnsignedLong(words[1]));
            for (String line : explanation.lines()) {
                out.write(line + "\n");
            }
        } catch (FsException e) {
            out.write("error: " + told(e) + "\n");
        }
    }

    /** Sets a directory's policy; clears it where the request has none. */
    private void policy(Writer out, String[] words) throws IOException {
        byte[] name = MoveRule.ATTRIBUTE.getBytes(StandardCharsets.UTF_8);
        long directory = Long.parseUnsignedLong(words[1]);
        try {
            if (words.length > 2) {
                byte[] value = words[2].getBytes(StandardCharsets.UTF_8);
                fileSystem.setXattr(patient(), directory, name, value, 0);
            } else {
                fileSystem.removeXattr(patient(), directory, name);
            }
        } catch (FsException e) {
            boolean none = e.errno() == Errno.ENODATA;
            out.write("error: " + (none ? "has no policy of its own" : told(e)) + "\n");
        }
    }

    /** A line now and then with how many were moved; at the end also how many stayed. */
    private void move(Writer out, String[] words) throws IOException {
        long[] moved = {0};
        try {
            long stayed =
                    fileSystem.move(
                            patient(),
                            Long.parseUnsignedLong(words[1]),
                            words[2],
                            more -> {
                                moved[0] += more;
                                tell(out, moved[0] + "\n");
                            });
            out.write(moved[0] + " " + stayed + "\n");
        } catch (FsException e) {
            out.write("error: " + told(e) + "\n");
        } catch (UncheckedIOException left) {
            throw left.getCause();
        }
    }

    private static void tell(Writer out, String line) {
        try {
            out.write(line);
            out.flush();
        } catch (IOException left) {
            throw new UncheckedIOException(left);
        }
    }

    /** Nobody else can connect than root and whose mount it is. */
    private static Caller patient() {
        return new Caller(0, 0, 0, System.nanoTime() + TREE_PATIENCE_NS);
    }

    private static String told(FsException e) {
        String message = String.valueOf(e.getMessage());
        String errno = e.errno().name() + ": ";
        return message.startsWith(errno) ? message.substring(errno.length()) : message;
    }

    private void quotas(Writer out) throws IOException {
        long untilNs = System.nanoTime() + PATIENCE_NS;
        try {
            Caller root = new Caller(0, 0, 0, untilNs);
            for (QuotaUsage quota : fileSystem.quotas(root)) {
                out.write(quota.line() + "\n");
            }
        } catch (FsException e) {
            out.write("error: quotas cannot be read: " + e.errno() + "\n");
        }
    }

    /** Lines that the asker is too slow for are counted, not kept. */
    private void trace(Writer out) throws IOException, InterruptedException {
        ArrayBlockingQueue<String> lines = new ArrayBlockingQueue<>(TRACED_LINES);
        LongAdder lost = new LongAdder();
        Consumer<String> listener =
                line -> {
                    if (!lines.offer(line)) {
                        lost.increment();
                    }
                };
        mount.operations().add(listener);
        try {
            while (server.isOpen()) {
                String line = lines.poll(POLL_MS, TimeUnit.MILLISECONDS);
                long missed = lost.sumThenReset();
                if (missed > 0) {
                    out.write("… " + missed + " operations not shown\n");
                }
                // An empty line finds out whether the asker is still there.
                out.write(line == null ? "\n" : line + "\n");
                if (lines.isEmpty()) {
                    out.flush();
                }
            }
        } finally {
            mount.operations().remove(listener);
        }
    }

    @Override
    public void close() throws IOException {
        server.close();
        Files.deleteIfExists(path);
    }
}

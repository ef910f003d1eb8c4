package org.globalfs.client.control;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.BindException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Asks a mount's control socket. */
public final class ControlClient implements AutoCloseable {
    /** The last line of an answer whose end says that all was done. */
    static final String END = ".";

    private final SocketChannel channel;
    private final BufferedReader answer;

    private final Path mountpoint;
    private final Duration limit;
    private final Thread watch;
    private volatile boolean late;

    private ControlClient(Path mountpoint, SocketChannel channel, Duration limit) {
        this.mountpoint = mountpoint;
        this.channel = channel;
        this.limit = limit;
        this.answer =
                new BufferedReader(
                        new InputStreamReader(
                                Channels.newInputStream(channel), StandardCharsets.UTF_8));
        this.watch = Thread.ofVirtual().name("control-watch").unstarted(this::watch);
    }

    /**
     * Asks the process that serves this mountpoint, however long it takes.
     *
     * @throws IOException it is no mount of ours, another user's, or its process is gone
     */
    public static ControlClient ask(Path mountpoint, String request) throws IOException {
        return ask(mountpoint, request, Duration.ofDays(365));
    }

    /**
     * The same, of what is answered at once.
     *
     * @param limit the whole answer has to be there after it, or reading it fails
     */
    public static ControlClient ask(Path mountpoint, String request, Duration limit)
            throws IOException {
        return ask(mountpoint, ControlAddress.of(ControlAddress.mount(mountpoint)), request, limit);
    }

    /**
     * Whether the process of this mountpoint does what it is asked, within this time. That of
     * another user's mount, which cannot be asked, is taken to.
     */
    public static boolean answers(Path mountpoint, Duration limit) {
        try (ControlClient client = ask(mountpoint, "stats", limit)) {
            return client.line() != null;
        } catch (AccessDeniedException e) {
            return true;
        } catch (IOException e) {
            return false;
        }
    }

    static ControlClient ask(
            Path mountpoint, UnixDomainSocketAddress address, String request, Duration limit)
            throws IOException {
        ControlClient client =
                new ControlClient(
                        mountpoint, SocketChannel.open(StandardProtocolFamily.UNIX), limit);
        client.watch.start();
        boolean asked = false;
        try {
            client.channel.connect(address);
            client.channel.write(
                    ByteBuffer.wrap((request + "\n").getBytes(StandardCharsets.UTF_8)));
            asked = true;
        } catch (IOException e) {
            throw client.late ? client.late() : failure(mountpoint, e);
        } finally {
            if (!asked) {
                client.close();
            }
        }
        return client;
    }

    /** Closing the channel is what wakes a thread that waits in it. */
    private void watch() {
        try {
            Thread.sleep(limit);
            late = true;
            channel.close();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (IOException e) {
            // It is closed as far as it can be, which is what was wanted.
        }
    }

    private IOException late() {
        return new IOException(
                "the process of "
                        + mountpoint
                        + " has not answered for "
                        + limit.toSeconds()
                        + " s: it is stopped or stuck; if it stays so, 'globalfs umount --force "
                        + mountpoint
                        + "' ends it");
    }

    static IOException failure(Path mountpoint, IOException e) {
        if (isDenied(e)) {
            return new AccessDeniedException(
                    mountpoint + " is another user's mount: ask as that user, or as root");
        }
        return new IOException(
                "the process of "
                        + mountpoint
                        + " does not answer ("
                        + e.getMessage()
                        + "); if it is gone, 'globalfs umount --lazy "
                        + mountpoint
                        + "' cleans up",
                e);
    }

    /** The JDK makes a BindException of EACCES, also where nothing is bound. */
    private static boolean isDenied(IOException e) {
        return e instanceof BindException || e instanceof AccessDeniedException;
    }

    /** The next line of the answer; null: it has ended. */
    public @Nullable String line() throws IOException {
        try {
            return answer.readLine();
        } catch (IOException e) {
            throw late ? late() : e;
        }
    }

    /**
     * All lines of the answer.
     *
     * @throws IOException the process ended before it had answered
     */
    public List<String> lines() throws IOException {
        List<String> lines = new ArrayList<>();
        String line = line();
        while (line != null && !line.equals(END)) {
            lines.add(line);
            line = line();
        }
        if (line == null) {
            throw new IOException(
                    "the process of "
                            + mountpoint
                            + " ended before it had answered, or is of an older version: mount anew, and"
                            + " give the command again");
        }
        return lines;
    }

    @Override
    public void close() throws IOException {
        watch.interrupt();
        channel.close();
    }
}

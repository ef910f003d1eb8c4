package org.globalfs.client.control;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** Asks a mount's control socket. */
public final class ControlClient implements AutoCloseable {
    private final SocketChannel channel;
    private final BufferedReader answer;

    private ControlClient(SocketChannel channel) {
        this.channel = channel;
        this.answer =
                new BufferedReader(
                        new InputStreamReader(
                                Channels.newInputStream(channel), StandardCharsets.UTF_8));
    }

    /**
     * Asks the process that serves this mountpoint.
     *
     * @throws IOException it is no mount of ours, another user's, or its process is gone
     */
    public static ControlClient ask(Path mountpoint, String request) throws IOException {
        UnixDomainSocketAddress address = ControlAddress.of(ControlAddress.mount(mountpoint));
        SocketChannel channel;
        try {
            channel = SocketChannel.open(address);
        } catch (AccessDeniedException e) {
            throw new IOException(mountpoint + " is another user's mount", e);
        } catch (IOException e) {
            throw new IOException(
                    "the process of "
                            + mountpoint
                            + " does not answer ("
                            + e.getMessage()
                            + "); if it is gone, 'globalfs umount --lazy "
                            + mountpoint
                            + "' cleans up",
                    e);
        }
        ControlClient client = new ControlClient(channel);
        channel.write(ByteBuffer.wrap((request + "\n").getBytes(StandardCharsets.UTF_8)));
        return client;
    }

    /** The next line of the answer; null: it has ended. */
    public @Nullable String line() throws IOException {
        return answer.readLine();
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }
}

package org.globalfs.protocol;

import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/**
 * TCP ports that nobody listens on, for servers that are started on loopback a little later. They
 * are below those that the kernel gives to outgoing connections and to who asks for any port (32768
 * on, on Linux): no stranger takes one while its server is not up yet, or down for a while.
 * Thread-safe.
 */
public final class FreePorts {

    private static final int FIRST = 11_000;
    private static final int END = 31_000;
    private static final int MOST_ATTEMPTS = 1000;

    /** This process's, so that it gets none twice before it uses the first. */
    private static final Set<Integer> GIVEN = ConcurrentHashMap.newKeySet();

    private FreePorts() {}

    /** One that this process did not get before. */
    public static int one() throws IOException {
        return one(FIRST, END);
    }

    /** One of {@code [first, end)} that this process did not get before. */
    public static int one(int first, int end) throws IOException {
        for (int attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
            int port = ThreadLocalRandom.current().nextInt(first, end);
            if (isFree(port) && GIVEN.add(port)) {
                return port;
            }
        }
        throw new BindException("no free port found from " + first + " to " + (end - 1));
    }

    /**
     * Consecutive ports that no other process is given until this is closed, by when who they are
     * for should listen on them. The one behind them is listened on meanwhile, which says so to
     * all.
     */
    public static final class Block implements AutoCloseable {
        private final int first;
        private final ServerSocket guard;

        private Block(int first, ServerSocket guard) {
            this.first = first;
            this.guard = guard;
        }

        public int first() {
            return first;
        }

        @Override
        public void close() throws IOException {
            guard.close();
        }
    }

    /** That many consecutive ones. */
    public static Block block(int count) throws IOException {
        return block(count, FIRST, END);
    }

    /** The same of {@code [first, end)}. */
    static Block block(int count, int first, int end) throws IOException {
        // Blocks of one size begin at places that are so far apart that they have none in common.
        int apart = count + 1;
        int places = (end - first) / apart;
        int begin = ThreadLocalRandom.current().nextInt(places);
        for (int i = 0; i < places; i++) {
            int candidate = first + (begin + i) % places * apart;
            ServerSocket guard = listenOn(candidate + count);
            if (guard == null) {
                continue;
            }
            if (areFree(candidate, count)) {
                return new Block(candidate, guard);
            }
            guard.close();
        }
        throw new BindException("no " + count + " consecutive free ports found");
    }

    private static @Nullable ServerSocket listenOn(int port) throws IOException {
        ServerSocket socket = new ServerSocket();
        try {
            socket.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
            return socket;
        } catch (BindException e) {
            socket.close();
            return null;
        }
    }

    private static boolean areFree(int first, int count) throws IOException {
        for (int port = first; port < first + count; port++) {
            if (!isFree(port)) {
                return false;
            }
        }
        return true;
    }

    private static boolean isFree(int port) throws IOException {
        try (ServerSocket probe = new ServerSocket()) {
            probe.setReuseAddress(true);
            probe.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
            return true;
        } catch (BindException e) {
            return false;
        }
    }
}

package org.globalfs.protocol;

import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/**
 * TCP ports that nobody listens on, for servers that are started on loopback a little later. They
 * are below those that the kernel gives to outgoing connections and to who asks for any port (32768
 * on, on Linux): no stranger takes one while its server is not up yet, or down for a while. No
 * other process that asks here gets one, or tries whether it is free, either: a process listens on
 * the last port of each slice that it gives ports of. Thread-safe.
 */
public final class FreePorts {

    private static final int FIRST = 11_000;
    private static final int BLOCKS = 21_000;
    private static final int END = 31_000;
    private static final int MOST_ATTEMPTS = 1000;
    private static final int SLICE = 50;

    /** With more ports than a test has servers; then those that were given long ago come again. */
    private static final int MOST_SLICES = 12;

    /** This process's ones of a range, so that it gets none twice before it uses the first. */
    private static final Set<Integer> GIVEN = ConcurrentHashMap.newKeySet();

    /** This process's slices, by what it listens on; never closed. Guarded by the class. */
    private static final List<ServerSocket> SLICES = new ArrayList<>();

    /** Their ports, those that were given last at the end. Guarded by the class. */
    private static final Queue<Integer> OWN = new ArrayDeque<>();

    /** How many of them were not given yet. Guarded by the class. */
    private static int fresh;

    private FreePorts() {}

    /** One that this process did not get among its last five hundred. */
    public static synchronized int one() throws IOException {
        if (fresh == 0 && SLICES.size() < MOST_SLICES) {
            claim();
        }
        for (int attempt = 0; attempt < OWN.size(); attempt++) {
            int port = OWN.remove();
            OWN.add(port);
            fresh = Math.max(0, fresh - 1);
            if (isFree(port)) {
                return port;
            }
        }
        throw new BindException("this process has all ports in use that it may have");
    }

    private static void claim() throws IOException {
        int slices = (BLOCKS - FIRST) / SLICE;
        int begin = ThreadLocalRandom.current().nextInt(slices);
        for (int i = 0; i < slices; i++) {
            int first = FIRST + (begin + i) % slices * SLICE;
            ServerSocket guard = listenOn(first + SLICE - 1);
            if (guard != null) {
                SLICES.add(guard);
                Queue<Integer> given = new ArrayDeque<>(OWN);
                OWN.clear();
                for (int port = first; port < first + SLICE - 1; port++) {
                    OWN.add(port);
                }
                fresh = OWN.size();
                OWN.addAll(given);
                return;
            }
        }
        if (OWN.isEmpty()) {
            throw new BindException(
                    "other processes have all ports from " + FIRST + " to " + (BLOCKS - 1));
        }
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
        return block(count, BLOCKS, END);
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

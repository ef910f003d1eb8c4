import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.locks.LockSupport;

/**
 * How late the kernel's netem is: small datagrams that go over all links all the time, each with
 * the time it is due, against the time when the kernel got it in the destination's namespace.
 */
final class Probes {
    private static final int PORT = 1077;
    private static final long BETWEEN_NS = 50_000_000L;
    private static final long LEAST_BETWEEN_NS = 1_000_000L;
    private static final int DUE_OFFSET = 0;
    private static final int SOURCE_OFFSET = 8;
    private static final int BYTES = 12;

    private final List<? extends Link> links;

    Probes(List<? extends Link> links) {
        this.links = links;
    }

    void start(Lab lab, String prefix) throws IOException, InterruptedException {
        int[] sockets = new int[lab.regions.size()];
        for (int region = 0; region < sockets.length; region++) {
            sockets[region] = open(prefix + lab.regions.get(region), Lab.address(region));
            Link[] arriving = new Link[sockets.length];
            for (Link link : links) {
                if (link.to == region) {
                    arriving[link.from] = link;
                }
            }
            int socket = sockets[region];
            daemon("probes-to-" + lab.regions.get(region), () -> receive(socket, arriving));
        }
        daemon("probes", () -> send(sockets));
    }

    private static void daemon(String name, Runnable body) {
        Thread.ofPlatform().name(name).daemon().start(body);
    }

    /** A thread that has entered a namespace ends with it; what it opened there stays there. */
    private static int open(String namespace, String address)
            throws IOException, InterruptedException {
        FutureTask<Integer> opening =
                new FutureTask<>(() -> {
                    Kernel.enterNamespace("/var/run/netns/" + namespace);
                    return Kernel.openUdp(address, PORT);
                });
        Thread.ofPlatform().start(opening);
        try {
            return opening.get();
        } catch (ExecutionException e) {
            throw new IOException(e.getCause());
        }
    }

    private void send(int[] sockets) {
        Kernel.exactTimers();
        MemorySegment probe = Arena.ofAuto().allocate(BYTES);
        long betweenNs = Math.max(LEAST_BETWEEN_NS, BETWEEN_NS / links.size());
        while (true) {
            for (Link link : links) {
                LockSupport.parkNanos(betweenNs);
                Link.Settings set = link.settings();
                if (!set.cut()) {
                    probe.set(ValueLayout.JAVA_INT, SOURCE_OFFSET, link.from);
                    probe.set(ValueLayout.JAVA_LONG, DUE_OFFSET, nowNs() + set.delayNs());
                    // One that the kernel refuses is one that does not arrive: no measurement.
                    Kernel.sendUdp(sockets[link.from], probe, Lab.address(link.to), PORT);
                }
            }
        }
    }

    private static void receive(int socket, Link[] arriving) {
        MemorySegment probe = Arena.ofAuto().allocate(BYTES);
        while (true) {
            long size = Kernel.read(socket, probe, BYTES);
            int source = probe.get(ValueLayout.JAVA_INT, SOURCE_OFFSET);
            boolean ours =
                    size == BYTES
                            && source >= 0
                            && source < arriving.length
                            && arriving[source] != null;
            if (ours) {
                long dueNs = probe.get(ValueLayout.JAVA_LONG, DUE_OFFSET);
                arriving[source].arrivedLate(Kernel.arrivedNs(socket) - dueNs);
            } else if (size < 0) {
                LockSupport.parkNanos(LEAST_BETWEEN_NS);
            }
        }
    }

    /** By the clock that the kernel stamps packets with. */
    private static long nowNs() {
        Instant now = Instant.now();
        return now.getEpochSecond() * 1_000_000_000L + now.getNano();
    }
}

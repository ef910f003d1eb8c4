import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.locks.LockSupport;

/**
 * A WAN in user space: takes packets from the regions' TUN devices and writes each to its
 * destination's when it is due. One thread a region reads; one scheduler writes.
 */
final class WanRouter {
    private static final int IPV4 = 4;
    private static final int DESTINATION_OFFSET = 16;
    private static final int SMALLEST_IPV4_BYTES = 20;
    private static final int MOST_IN_A_ROW = 64;

    private final Lab lab;
    private final int[] tuns;
    private final Thread scheduler = new Thread(this::schedule, "scheduler");

    /** When the scheduler looks again by itself; MIN_VALUE while it is awake. */
    private volatile long wakesNs = Long.MAX_VALUE;

    private WanRouter(Lab lab, int[] tuns) {
        this.lab = lab;
        this.tuns = tuns;
    }

    /**
     * Arguments: the configuration, the prefix of the namespaces, the file to write the port to.
     */
    public static void main(String[] arguments) throws InterruptedException {
        try {
            Lab lab = new Lab(Path.of(arguments[0]));
            int[] tuns = new int[lab.regions.size()];
            for (int region = 0; region < tuns.length; region++) {
                tuns[region] =
                        Namespaces.join(arguments[1] + lab.regions.get(region), region, lab.mtu());
            }
            WanRouter router = new WanRouter(lab, tuns);
            router.start();
            router.serve(Path.of(arguments[2]));
        } catch (Lab.Mistake | IOException e) {
            System.err.println(e.getMessage());
            System.exit(1);
        }
    }

    private void start() {
        // A dead thread would be a silent netsplit.
        Thread.setDefaultUncaughtExceptionHandler((thread, failure) -> {
            failure.printStackTrace();
            Runtime.getRuntime().halt(2);
        });
        scheduler.setDaemon(true);
        scheduler.start();
        for (int region = 0; region < tuns.length; region++) {
            int source = region;
            Thread.ofPlatform()
                    .name("from-" + lab.regions.get(region))
                    .daemon()
                    .start(() -> receive(source));
        }
    }

    private void receive(int source) {
        MemorySegment packet = Arena.ofAuto().allocate(Link.LARGEST_BYTES);
        while (true) {
            int size = (int) Kernel.read(tuns[source], packet, Link.LARGEST_BYTES);
            if (size < Link.HEADER_BYTES + SMALLEST_IPV4_BYTES) {
                if (size < 0) {
                    LockSupport.parkNanos(1_000_000);
                }
                continue;
            }
            int destination = destination(packet);
            if (destination < 0 || destination == source) {
                continue;
            }
            Link link = lab.links[source][destination];
            if (link.transparent()) {
                link.countPassed(size);
                if (Kernel.write(tuns[destination], packet, size) < 0) {
                    link.countDropped();
                }
            } else if (link.offer(packet, size, System.nanoTime()) < wakesNs) {
                LockSupport.unpark(scheduler);
            }
        }
    }

    /** The region of an IPv4 packet to 10.77.region+1.x, or -1. */
    private int destination(MemorySegment packet) {
        int version = unsigned(packet, 0) >> 4;
        int region = unsigned(packet, DESTINATION_OFFSET + 2) - 1;
        boolean ours =
                version == IPV4
                        && unsigned(packet, DESTINATION_OFFSET) == 10
                        && unsigned(packet, DESTINATION_OFFSET + 1) == 77
                        && region < tuns.length;
        return ours ? region : -1;
    }

    private static int unsigned(MemorySegment packet, int offset) {
        return packet.get(ValueLayout.JAVA_BYTE, Link.HEADER_BYTES + offset) & 0xff;
    }

    private void schedule() {
        Kernel.exactTimers();
        while (true) {
            wakesNs = Long.MIN_VALUE;
            if (deliverDue()) {
                continue;
            }
            // Readers look at wakesNs after they put a packet in, and this looks at the links after
            // it set wakesNs: none of them can miss the other.
            long next = nextDueNs();
            wakesNs = next;
            if (nextDueNs() < next) {
                continue;
            }
            if (next == Long.MAX_VALUE) {
                LockSupport.park(this);
            } else {
                LockSupport.parkNanos(this, next - System.nanoTime());
            }
        }
    }

    private boolean deliverDue() {
        boolean any = false;
        for (Link[] from : lab.links) {
            for (Link link : from) {
                for (int i = 0; i < MOST_IN_A_ROW && link.nextDueNs() <= System.nanoTime(); i++) {
                    link.deliver(tuns[link.destination]);
                    any = true;
                }
            }
        }
        return any;
    }

    private long nextDueNs() {
        long next = Long.MAX_VALUE;
        for (Link[] from : lab.links) {
            for (Link link : from) {
                next = Math.min(next, link.nextDueNs());
            }
        }
        return next;
    }

    /** Commands come over loopback, a line a connection. */
    private void serve(Path portFile) throws IOException {
        try (ServerSocket server = new ServerSocket(0, 8, InetAddress.getLoopbackAddress())) {
            Path written =
                    Files.writeString(Path.of(portFile + ".new"), server.getLocalPort() + "\n");
            Files.move(written, portFile);
            while (true) {
                try (Socket client = server.accept()) {
                    client.setSoTimeout(2000);
                    BufferedReader lines =
                            new BufferedReader(
                                    new InputStreamReader(
                                            client.getInputStream(), StandardCharsets.UTF_8));
                    String line = lines.readLine();
                    OutputStream out = client.getOutputStream();
                    out.write(
                            lab.answer(line == null ? "" : line).getBytes(StandardCharsets.UTF_8));
                } catch (IOException e) {
                    System.err.println("control connection: " + e.getMessage());
                }
            }
        }
    }
}

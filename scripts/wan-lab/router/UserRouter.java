import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/**
 * A WAN in user space: takes packets from the regions' TUN devices and writes each to its
 * destination's when it is due. One thread a region reads; one scheduler writes.
 */
final class UserRouter implements Router {
    private static final int IPV4 = 4;
    private static final int DESTINATION_OFFSET = 16;
    private static final int SMALLEST_IPV4_BYTES = 20;
    private static final int MOST_IN_A_ROW = 64;

    private final String prefix;
    private final List<UserLink> links = new ArrayList<>();
    private int[] tuns;
    private UserLink[][] between;
    private final Thread scheduler = new Thread(this::schedule, "scheduler");

    /** When the scheduler looks again by itself; MIN_VALUE while it is awake. */
    private volatile long wakesNs = Long.MAX_VALUE;

    UserRouter(String prefix) {
        this.prefix = prefix;
    }

    @Override
    public String name() {
        return "user";
    }

    @Override
    public Link link(String name, int from, int to) {
        UserLink link = new UserLink(name, from, to);
        links.add(link);
        return link;
    }

    @Override
    public void start(Lab lab) throws IOException, InterruptedException {
        int regions = lab.regions.size();
        tuns = new int[regions];
        between = new UserLink[regions][regions];
        links.forEach(link -> between[link.from][link.to] = link);
        for (int region = 0; region < regions; region++) {
            tuns[region] = join(prefix + lab.regions.get(region), region, lab.mtu());
        }
        // A dead thread would be a silent netsplit.
        Thread.setDefaultUncaughtExceptionHandler((thread, failure) -> {
            failure.printStackTrace();
            Runtime.getRuntime().halt(2);
        });
        scheduler.setDaemon(true);
        scheduler.start();
        for (int region = 0; region < regions; region++) {
            int source = region;
            Thread.ofPlatform()
                    .name("from-" + lab.regions.get(region))
                    .daemon()
                    .start(() -> receive(source));
        }
    }

    /**
     * @return the descriptor through which the region's packets come and go
     */
    private static int join(String namespace, int region, int mtu)
            throws IOException, InterruptedException {
        // The device is made here and moved: a name that no other lab's router uses meanwhile.
        String device = "w" + region + "x" + Long.toString(ProcessHandle.current().pid(), 36);
        int tun = Kernel.openTun(device);
        Namespaces.make(namespace);
        Command.run("ip", "link", "set", device, "netns", namespace, "name", Namespaces.DEVICE);
        Namespaces.connect(namespace, region, mtu);
        return tun;
    }

    @Override
    public void apply() {
        // Links look at their settings for each packet.
    }

    @Override
    public void count() {
        // Links count for themselves.
    }

    private void receive(int source) {
        MemorySegment packet = Arena.ofAuto().allocate(UserLink.LARGEST_BYTES);
        while (true) {
            int size = (int) Kernel.read(tuns[source], packet, UserLink.LARGEST_BYTES);
            if (size < UserLink.HEADER_BYTES + SMALLEST_IPV4_BYTES) {
                if (size < 0) {
                    LockSupport.parkNanos(1_000_000);
                }
                continue;
            }
            int destination = destination(packet);
            if (destination < 0 || destination == source) {
                continue;
            }
            UserLink link = between[source][destination];
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
        return packet.get(ValueLayout.JAVA_BYTE, UserLink.HEADER_BYTES + offset) & 0xff;
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
        for (UserLink link : links) {
            for (int i = 0; i < MOST_IN_A_ROW && link.nextDueNs() <= System.nanoTime(); i++) {
                link.deliver(tuns[link.to]);
                any = true;
            }
        }
        return any;
    }

    private long nextDueNs() {
        long next = Long.MAX_VALUE;
        for (UserLink link : links) {
            next = Math.min(next, link.nextDueNs());
        }
        return next;
    }
}

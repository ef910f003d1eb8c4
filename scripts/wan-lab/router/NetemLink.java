import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * A link that is a leaf of the queue at its destination's device in the hub, where packets from its
 * source's device are classified to it. Netem delays, loses and spaces packets; before it, a
 * policer drops what would have to wait too long behind others, since netem only counts packets.
 */
final class NetemLink extends Link {
    /** As many as netem holds: 32 MiB, were all of them no larger than 512 bytes. */
    private static final int MOST_PACKETS = 65_536;

    /** Netem keeps the order of packets, even when the delay shrinks, only if there is a rate. */
    private static final double NO_LIMIT_MBIT = 1e6;

    /** A TCP segment as offload hands it over, counted with headers for each of its packets. */
    private static final long LARGEST_SEGMENT_BYTES = 70_000;

    private static final long LARGEST_BURST_BYTES = 4_000_000_000L;
    private static final int OTHER_HANDLE = 0x1000;

    private Optional<Settings> applied = Optional.empty();
    private int handle;
    private Passed passed = new Passed(0, 0, 0);

    NetemLink(String name, int from, int to) {
        super(name, from, to);
        handle = from + 2;
    }

    /** The hub's device that leads to a region. */
    static String device(int region) {
        return "r" + (region + 1);
    }

    /** The line of tc that prepares a device for its links. */
    static String root(int region) {
        return "qdisc add dev " + device(region) + " root handle 1: htb\n";
    }

    String classId() {
        return "1:" + Integer.toHexString(from + 1);
    }

    /** What tc has to do for the settings to hold; it is taken to succeed. */
    List<String> changes() {
        Settings now = settings();
        List<String> lines = new ArrayList<>();
        if (applied.isEmpty()) {
            lines.add(leaf());
        }
        if (now.cut() && !applied.map(Settings::cut).orElse(false)) {
            handle ^= OTHER_HANDLE; // a new queue: the old one goes with what is on its way
        }
        if (!applied.equals(Optional.of(now))) {
            lines.add(delay(now));
        }
        if (!applied.map(Settings::mbit).equals(Optional.of(now.mbit()))) {
            lines.add(filter(now));
        }
        applied = Optional.of(now);
        return lines;
    }

    /** Tc failed: nothing is known of what holds. */
    void forget() {
        applied = Optional.empty();
    }

    private String leaf() {
        return "class replace dev %s parent 1: classid %s htb rate 1tbit burst 1m cburst 1m"
                        .formatted(device(to), classId())
                + " quantum 65536";
    }

    private String delay(Settings now) {
        return String.format(
                Locale.ROOT,
                "qdisc replace dev %s parent %s handle %x: netem limit %d delay %.3fus loss %.6f%%"
                        + " rate %.0fbit",
                device(to),
                classId(),
                handle,
                MOST_PACKETS,
                now.delayNs() / 1e3,
                now.cut() ? 100 : now.lossRatio() * 100,
                (now.mbit() > 0 ? now.mbit() : NO_LIMIT_MBIT) * 1e6);
    }

    private String filter(Settings now) {
        String filter =
                "filter replace dev %s parent 1: protocol ip prio %d handle 1 flower"
                                .formatted(device(to), from + 1)
                        + " indev %s classid %s".formatted(device(from), classId());
        if (now.mbit() <= 0) {
            return filter;
        }
        double queueBytes = now.mbit() * 1e6 / 8 * LONGEST_QUEUE_NS / 1e9;
        return filter
                + String.format(
                        Locale.ROOT,
                        " action police rate %.0fbit burst %d mtu %d conform-exceed drop/ok",
                        now.mbit() * 1e6,
                        Math.clamp((long) queueBytes, LARGEST_SEGMENT_BYTES, LARGEST_BURST_BYTES),
                        LARGEST_SEGMENT_BYTES);
    }

    void passed(Passed now) {
        passed = now;
    }

    @Override
    Passed passed() {
        return passed;
    }
}

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;

/**
 * Packets on their way in this process, each with the time it is due. The source region's reader
 * puts them in, the scheduler takes them out; both ends of the ring buffer only ever grow, and a
 * record that would run past the buffer's end lies in the slack behind it.
 */
final class UserLink extends Link {
    /** A virtio header goes before each packet. */
    static final int HEADER_BYTES = 10;

    static final int LARGEST_BYTES = 65536 + HEADER_BYTES;

    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG;
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;
    private static final long IN_FLIGHT_BYTES = 32L << 20;
    private static final int DUE_OFFSET = 0;
    private static final int SIZE_OFFSET = 8;
    private static final int PACKET_OFFSET = 16;

    private final MemorySegment ring =
            Kernel.reserve(IN_FLIGHT_BYTES + PACKET_OFFSET + LARGEST_BYTES + 8);
    private final AtomicLong taken = new AtomicLong();
    private final AtomicLong put = new AtomicLong();
    private long sentByNs; // when a link of limited bandwidth has sent what it was given; reader's

    private final LongAdder packets = new LongAdder();
    private final LongAdder bytes = new LongAdder();
    private final LongAdder drops = new LongAdder();

    UserLink(String name, int from, int to) {
        super(name, from, to);
    }

    /** Whether a packet may overtake the scheduler: nothing is to be done to it. */
    boolean transparent() {
        return settings().equals(Settings.NONE) && empty();
    }

    boolean empty() {
        return taken.get() == put.get();
    }

    void countPassed(long sizeBytes) {
        packets.increment();
        bytes.add(sizeBytes - HEADER_BYTES);
    }

    void countDropped() {
        drops.increment();
    }

    /**
     * Puts a packet on its way, or drops it as the link's settings say.
     *
     * @return when it is due, or {@link Long#MAX_VALUE} when it was dropped
     */
    long offer(MemorySegment packet, int sizeBytes, long nowNs) {
        Settings set = settings();
        long at = put.get();
        int record = recordBytes(sizeBytes);
        boolean lost =
                set.lossRatio() > 0 && ThreadLocalRandom.current().nextDouble() < set.lossRatio();
        if (set.cut() || lost || IN_FLIGHT_BYTES - (at - taken.get()) < record) {
            drops.increment();
            return Long.MAX_VALUE;
        }
        long dueNs = nowNs;
        if (set.mbit() > 0) {
            long startNs = Math.max(sentByNs, nowNs);
            if (startNs - nowNs > LONGEST_QUEUE_NS) {
                drops.increment();
                return Long.MAX_VALUE;
            }
            sentByNs = startNs + (long) (8000 / set.mbit() * (sizeBytes - HEADER_BYTES));
            dueNs = sentByNs;
        }
        dueNs += set.delayNs();
        long offset = at % IN_FLIGHT_BYTES;
        ring.set(LONG, offset + DUE_OFFSET, dueNs);
        ring.set(INT, offset + SIZE_OFFSET, sizeBytes);
        MemorySegment.copy(packet, 0, ring, offset + PACKET_OFFSET, sizeBytes);
        countPassed(sizeBytes);
        put.set(after(at, record));
        return dueNs;
    }

    /** When the oldest packet is due, or {@link Long#MAX_VALUE} when there is none. */
    long nextDueNs() {
        return empty()
                ? Long.MAX_VALUE
                : ring.get(LONG, taken.get() % IN_FLIGHT_BYTES + DUE_OFFSET);
    }

    /** Takes the oldest packet, and sends it unless the link was cut meanwhile. */
    void deliver(int tun) {
        long at = taken.get();
        long offset = at % IN_FLIGHT_BYTES;
        long dueNs = ring.get(LONG, offset + DUE_OFFSET);
        int sizeBytes = ring.get(INT, offset + SIZE_OFFSET);
        MemorySegment packet = ring.asSlice(offset + PACKET_OFFSET, sizeBytes);
        if (settings().cut() || Kernel.write(tun, packet, sizeBytes) < 0) {
            drops.increment();
        }
        arrivedLate(System.nanoTime() - dueNs);
        taken.set(after(at, recordBytes(sizeBytes)));
    }

    private static int recordBytes(int sizeBytes) {
        return (PACKET_OFFSET + sizeBytes + 7) & ~7;
    }

    /** Where the next record begins: at the buffer's start once one ran into the slack. */
    private static long after(long at, int record) {
        long next = at + record;
        boolean inSlack = next / IN_FLIGHT_BYTES > at / IN_FLIGHT_BYTES;
        return inSlack ? next - next % IN_FLIGHT_BYTES : next;
    }

    @Override
    Passed passed() {
        return new Passed(packets.sum(), bytes.sum(), drops.sum());
    }
}

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAccumulator;
import java.util.concurrent.atomic.LongAdder;

/**
 * One direction between two regions: packets on their way, each with the time it is due. The source
 * region's reader puts them in, the scheduler takes them out; both ends of the ring buffer only
 * ever grow, and a record that would run past the buffer's end lies in the slack behind it.
 */
final class Link {
    /** A virtio header goes before each packet. */
    static final int HEADER_BYTES = 10;

    static final int LARGEST_BYTES = 65536 + HEADER_BYTES;

    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG;
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;
    private static final long IN_FLIGHT_BYTES = 32L << 20;
    private static final int DUE_OFFSET = 0;
    private static final int SIZE_OFFSET = 8;
    private static final int PACKET_OFFSET = 16;
    private static final long LONGEST_QUEUE_NS = 200_000_000L;

    final String name;
    final int destination;

    private final MemorySegment ring =
            Kernel.reserve(IN_FLIGHT_BYTES + PACKET_OFFSET + LARGEST_BYTES + 8);
    private final AtomicLong taken = new AtomicLong();
    private final AtomicLong put = new AtomicLong();
    private long sentByNs; // when a link of limited bandwidth has sent what it was given; reader's

    private volatile long delayNs;
    private volatile double lossRatio;
    private volatile double nsPerByte;
    private volatile boolean cut;

    private final LongAdder packets = new LongAdder();
    private final LongAdder bytes = new LongAdder();
    private final LongAdder drops = new LongAdder();
    private final LongAdder timed = new LongAdder();
    private final LongAdder lateNs = new LongAdder();
    private final LongAccumulator latestNs = new LongAccumulator(Long::max, 0);

    Link(String name, int destination) {
        this.name = name;
        this.destination = destination;
    }

    void delayMs(double ms) {
        delayNs = (long) (ms * 1e6);
    }

    void bandwidthMbit(double mbit) {
        nsPerByte = mbit <= 0 ? 0 : 8000.0 / mbit;
    }

    void lossPercent(double percent) {
        lossRatio = percent / 100;
    }

    void cut(boolean now) {
        cut = now;
    }

    /** Whether a packet may overtake the scheduler: nothing is to be done to it. */
    boolean transparent() {
        return delayNs == 0 && nsPerByte == 0 && lossRatio == 0 && !cut && empty();
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
        long at = put.get();
        int record = recordBytes(sizeBytes);
        boolean lost = lossRatio > 0 && ThreadLocalRandom.current().nextDouble() < lossRatio;
        if (cut || lost || IN_FLIGHT_BYTES - (at - taken.get()) < record) {
            drops.increment();
            return Long.MAX_VALUE;
        }
        long dueNs = nowNs;
        if (nsPerByte > 0) {
            long startNs = Math.max(sentByNs, nowNs);
            if (startNs - nowNs > LONGEST_QUEUE_NS) {
                drops.increment();
                return Long.MAX_VALUE;
            }
            sentByNs = startNs + (long) (nsPerByte * (sizeBytes - HEADER_BYTES));
            dueNs = sentByNs;
        }
        dueNs += delayNs;
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
        if (cut || Kernel.write(tun, packet, sizeBytes) < 0) {
            drops.increment();
        }
        long late = System.nanoTime() - dueNs;
        timed.increment();
        lateNs.add(late);
        latestNs.accumulate(late);
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

    /** What passed so far, and how late since the last time this was asked. */
    String statistics() {
        long count = timed.sumThenReset();
        double averageUs = count == 0 ? 0 : lateNs.sumThenReset() / 1e3 / count;
        return "%s delay=%.3fms%s packets=%d bytes=%d drops=%d late_avg=%.1fus late_max=%.1fus"
                .formatted(
                        name,
                        delayNs / 1e6,
                        cut ? " cut" : "",
                        packets.sum(),
                        bytes.sum(),
                        drops.sum(),
                        averageUs,
                        latestNs.getThenReset() / 1e3);
    }
}

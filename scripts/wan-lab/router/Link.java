import java.util.Locale;
import java.util.concurrent.atomic.LongAccumulator;
import java.util.concurrent.atomic.LongAdder;

/** One direction between two regions: what is set, what passed, and how late it was. */
abstract class Link {
    /**
     * @param mbit the bandwidth; 0 where there is no limit
     */
    record Settings(long delayNs, double mbit, double lossRatio, boolean cut) {
        static final Settings NONE = new Settings(0, 0, 0, false);
    }

    record Passed(long packets, long bytes, long drops) {}

    /** What a link of limited bandwidth makes wait at most; it drops the rest. */
    static final long LONGEST_QUEUE_NS = 200_000_000L;

    final String name;
    final int from;
    final int to;

    private final LongAdder timed = new LongAdder();
    private final LongAdder lateNs = new LongAdder();
    private final LongAccumulator latestNs = new LongAccumulator(Long::max, 0);
    private volatile Settings settings = Settings.NONE;

    Link(String name, int from, int to) {
        this.name = name;
        this.from = from;
        this.to = to;
    }

    final Settings settings() {
        return settings;
    }

    final void delayMs(double ms) {
        Settings was = settings;
        settings = new Settings((long) (ms * 1e6), was.mbit, was.lossRatio, was.cut);
    }

    final void bandwidthMbit(double mbit) {
        Settings was = settings;
        settings = new Settings(was.delayNs, mbit, was.lossRatio, was.cut);
    }

    final void lossPercent(double percent) {
        Settings was = settings;
        settings = new Settings(was.delayNs, was.mbit, percent / 100, was.cut);
    }

    final void cut(boolean now) {
        Settings was = settings;
        settings = new Settings(was.delayNs, was.mbit, was.lossRatio, now);
    }

    /** Since the lab is up. */
    abstract Passed passed();

    /** A packet arrived this long after it was due. */
    final void arrivedLate(long ns) {
        timed.increment();
        lateNs.add(ns);
        latestNs.accumulate(ns);
    }

    /** What passed so far, and how late since the last time this was asked. */
    final String statistics() {
        Settings now = settings;
        Passed passed = passed();
        long count = timed.sumThenReset();
        double averageUs = Math.max(0, lateNs.sumThenReset() / 1e3 / Math.max(1, count));
        return String.format(
                Locale.ROOT,
                "%s delay=%.3fms%s packets=%d bytes=%d drops=%d late_avg=%.1fus late_max=%.1fus",
                name,
                now.delayNs / 1e6,
                now.cut ? " cut" : "",
                passed.packets,
                passed.bytes,
                passed.drops,
                averageUs,
                latestNs.getThenReset() / 1e3);
    }
}

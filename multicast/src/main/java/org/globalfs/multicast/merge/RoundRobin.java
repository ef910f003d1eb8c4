package org.globalfs.multicast.merge;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.globalfs.multicast.Entry;
import org.globalfs.multicast.MergePosition;
import org.globalfs.multicast.RingPosition;
import org.globalfs.protocol.Invariant;
import org.jspecify.annotations.Nullable;

/**
 * The merge of Multi-Ring Paxos, as a pure machine: the rings that a learner follows deliver M
 * logical instances each, in the order of their numbers, round and round.
 *
 * <p><b>Logical positions.</b> A decided instance stands for one logical instance, its own, and one
 * with a {@link Entry.Skip} also for the empty ones up to the skip's position. So a ring's position
 * is a function of its decided prefix, whoever coordinated it: skips are absolute, and one that is
 * late, doubled, or of a former coordinator does nothing worse than nothing.
 *
 * <p><b>The order.</b> A decided instance whose logical position is p belongs to round (p - 1) / M
 * of its ring; "M of the first ring, then M of the next" is the order by (round, ring, p). This is
 * one total order of the decided instances of all rings there are, and no learner has a part in
 * making it. Each delivers the instances of the rings that it follows in that order: so learners of
 * the same rings deliver the same sequence, and orders of groups with different rings never make a
 * cycle.
 *
 * <p><b>The machine.</b> Of the rings followed, it is the turn of the one whose next instance would
 * be first: the least (round of position + 1, ring). Nothing that is to come in another ring can go
 * before it. While that ring's next instance is not known the merge waits, whatever the others have
 * buffered. That the turn follows from the positions is also why they are all that a checkpoint
 * carries.
 *
 * <p><b>Subscriptions.</b> An {@link Entry.Subscription} takes effect behind the instance that
 * carries it, which has one place in the order. A new ring is counted from where the entry says, a
 * place whose position its followers know; what is before the subscription's own place in the order
 * is passed over, for others may have delivered it already before what this learner delivered. An
 * entry that follows a followed ring, leaves one that is not followed, or leaves the last one,
 * means nothing.
 *
 * <p><b>Bounds.</b> A ring that runs ahead is buffered up to a number of instances and bytes; then
 * {@link #hasRoom} is false, and the caller reads the log later. The ring whose turn it is and that
 * is waited for has an empty buffer, and so always room.
 */
public final class RoundRobin {

    /** An instance whose turn came. */
    public record Delivered(int ring, long instance, List<Entry> entries) {}

    private record Buffered(List<Entry> entries, int bytes) {}

    /** A followed ring. */
    private static final class Source {
        private final int ring;
        private final ArrayDeque<Buffered> buffer = new ArrayDeque<>();
        private long instance;
        private long position;
        private final long from;
        private long bufferedBytes;
        private boolean full;
        private long bufferedPosition;

        /** Of the newest buffered instance that is not empty, its own logical position. */
        private long needed;

        /** At least here the ring is, whatever is buffered of it. */
        private long heard;

        Source(RingPosition start) {
            this.ring = start.ring();
            this.instance = start.instance();
            this.position = start.position();
            this.from = start.from();
            this.bufferedPosition = position;
        }
    }

    private final int group;
    private final int turn;
    private final int mostInstances;
    private final long mostBytes;
    private final List<Source> sources = new ArrayList<>();
    private List<Integer> rings;

    /**
     * @param start where the learner's state is
     * @param mostInstances of a ring that are buffered, one at least
     * @param mostBytes of a ring that are buffered, but for the last instance
     */
    public RoundRobin(int group, MergePosition start, int mostInstances, long mostBytes) {
        this.group = group;
        this.turn = start.turn();
        this.mostInstances = mostInstances;
        this.mostBytes = mostBytes;
        for (RingPosition ring : start.rings()) {
            sources.add(new Source(ring));
        }
        this.rings = numbers();
    }

    private List<Integer> numbers() {
        return sources.stream().map(source -> source.ring).toList();
    }

    /** The rings followed, ascending; the same object until they change. */
    public List<Integer> rings() {
        return rings;
    }

    public boolean follows(int ring) {
        return find(ring).isPresent();
    }

    private Optional<Source> find(int ring) {
        return sources.stream().filter(source -> source.ring == ring).findFirst();
    }

    private Source source(int ring) {
        return find(ring).orElseThrow(() -> new IllegalArgumentException("not followed: " + ring));
    }

    /** The instance of a followed ring to be offered next. */
    public long next(int ring) {
        Source source = source(ring);
        return source.instance + source.buffer.size() + 1;
    }

    /** Once full, a buffer has room again when it is half empty: a log is read in large pieces. */
    public boolean hasRoom(int ring) {
        return !source(ring).full;
    }

    /** A decided instance, {@link #next} of a ring that has room. */
    public void offer(int ring, long instance, List<Entry> entries, int bytes) {
        Source source = source(ring);
        Invariant.check(
                instance == next(ring), "ring %s: %s instead of %s", ring, instance, next(ring));
        Invariant.check(hasRoom(ring), "ring %s: no room for %s", ring, instance);
        source.buffer.add(new Buffered(entries, bytes));
        source.bufferedBytes += bytes;
        source.full = source.buffer.size() >= mostInstances || source.bufferedBytes >= mostBytes;
        for (Entry entry : entries) {
            if (!(entry instanceof Entry.Skip || entry instanceof Entry.Noop)) {
                source.needed = source.bufferedPosition + 1;
                break;
            }
        }
        source.bufferedPosition = Entry.Skip.positionAfter(source.bufferedPosition, entries);
    }

    /** The next of the merged order, or null while the ring whose turn it is has nothing. */
    public @Nullable Delivered next() {
        while (true) {
            Source source = turn();
            Buffered head = source.buffer.poll();
            if (head == null) {
                return null;
            }
            long at = source.position + 1;
            source.instance++;
            source.position = Entry.Skip.positionAfter(source.position, head.entries);
            source.bufferedBytes -= head.bytes;
            source.full &=
                    source.buffer.size() > mostInstances / 2
                            || source.bufferedBytes > mostBytes / 2;
            if (at >= source.from) {
                Delivered delivered = new Delivered(source.ring, source.instance, head.entries);
                subscriptions(source.ring, at, head.entries);
                return delivered;
            }
        }
    }

    /** The ring that is waited for when {@link #next()} has nothing. */
    public int waitingFor() {
        return turn().ring;
    }

    /** A ring, if it is followed, has decided a skip to there: there may be more than buffered. */
    public void heard(int ring, long position) {
        for (Source source : sources) {
            if (source.ring == ring) {
                source.heard = Math.max(source.heard, position);
            }
        }
    }

    /**
     * The logical position that {@link #waitingFor} must reach before all commands buffered of
     * other rings can go, and if a buffer is full, those that there may be behind it; 0 when there
     * are none.
     */
    public long wanted() {
        Source waited = turn();
        long wanted = 0;
        for (Source source : sources) {
            long needed =
                    source.full ? Math.max(source.heard, source.bufferedPosition) : source.needed;
            if (source != waited && needed > source.position) {
                wanted = Math.max(wanted, needed + turn);
            }
        }
        return wanted;
    }

    public MergePosition position() {
        List<RingPosition> positions = new ArrayList<>(sources.size());
        for (Source source : sources) {
            positions.add(
                    new RingPosition(source.ring, source.instance, source.position, source.from));
        }
        return new MergePosition(turn, positions);
    }

    private Source turn() {
        Source first = sources.getFirst();
        for (Source source : sources) {
            if (round(source.position + 1) < round(first.position + 1)) {
                first = source;
            }
        }
        return first;
    }

    private long round(long position) {
        return (position - 1) / turn;
    }

    private void subscriptions(int through, long at, List<Entry> entries) {
        for (Entry entry : entries) {
            if (entry instanceof Entry.Subscription change && change.group() == group) {
                if (change.follows()) {
                    follow(change, through, round(at));
                } else if (sources.size() > 1) {
                    sources.removeIf(source -> source.ring == change.ring());
                    rings = numbers();
                }
            }
        }
    }

    private void follow(Entry.Subscription change, int through, long round) {
        if (follows(change.ring())) {
            return;
        }
        long firstRound = change.ring() > through ? round : round + 1;
        sources.add(
                new Source(
                        new RingPosition(
                                change.ring(),
                                change.instance(),
                                change.position(),
                                firstRound * turn + 1)));
        sources.sort((a, b) -> Integer.compare(a.ring, b.ring));
        rings = numbers();
    }
}

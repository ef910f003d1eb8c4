package org.globalfs.multicast.core;

import java.util.List;
import org.globalfs.multicast.Entry;
import org.globalfs.multicast.Membership;
import org.jspecify.annotations.Nullable;

/** The value of one instance: entries in order. */
public final class Batch {

    private final List<Entry> entries;
    private final int sizeBytes;

    public Batch(List<Entry> entries) {
        this.entries = List.copyOf(entries);
        int sum = 0;
        for (Entry entry : this.entries) {
            sum += sizeBytes(entry);
        }
        this.sizeBytes = sum;
    }

    /** Of a single entry. */
    public static Batch of(Entry entry) {
        return new Batch(List.of(entry));
    }

    public List<Entry> entries() {
        return entries;
    }

    /** About what the batch takes on the wire and in the log; the core bounds its memory by it. */
    public int sizeBytes() {
        return sizeBytes;
    }

    /** The membership that the ring gets with this instance, or null. */
    public @Nullable Membership membership() {
        return entries.size() == 1 && entries.getFirst() instanceof Entry.Members members
                ? members.membership()
                : null;
    }

    /** The highest timestamp among the commands, or 0. */
    public long lastTimestamp() {
        long last = 0;
        for (Entry entry : entries) {
            if (entry instanceof Entry.Command command) {
                last = Math.max(last, command.timestamp());
            }
        }
        return last;
    }

    static int sizeBytes(Entry entry) {
        return switch (entry) {
            case Entry.Command command -> sizeBytes(command.value(), command.destinations());
            case Entry.Members members -> sizeBytes(members.membership());
            case Entry.Subscription _ -> 32;
            case Entry.Import _, Entry.Noop _, Entry.Skip _ -> 16;
        };
    }

    private static int sizeBytes(Membership membership) {
        int sum = 16;
        for (Membership.Member member : membership.members()) {
            sum += 7 + 3 * member.address().length();
        }
        return sum;
    }

    static int sizeBytes(byte[] value, int[] destinations) {
        return 24 + value.length + 4 * destinations.length;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Batch that && entries.equals(that.entries);
    }

    @Override
    public int hashCode() {
        return entries.hashCode();
    }

    @Override
    public String toString() {
        return entries.toString();
    }
}

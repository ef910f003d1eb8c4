package org.globalfs.multicast.wire;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.globalfs.multicast.Entry;
import org.globalfs.multicast.core.Batch;

/**
 * Byte form of a batch, the same on the wire and in the log; docs/formats/multicast-wire.md has the
 * table.
 */
public final class BatchCodec {
    private static final byte NOOP = 0;
    private static final byte COMMAND = 1;
    private static final byte IMPORT = 2;
    private static final byte SKIP = 3;
    private static final byte SUBSCRIPTION = 4;
    private static final byte MEMBERS = 5;
    private static final int[] NO_DESTINATIONS = {};

    private BatchCodec() {}

    /** At least what {@link #encode} writes. */
    public static int sizeBound(Batch batch) {
        return 4 + batch.sizeBytes();
    }

    public static void encode(Batch batch, ByteBuffer to) {
        List<Entry> entries = batch.entries();
        to.putInt(entries.size());
        for (Entry entry : entries) {
            encode(entry, to);
        }
    }

    static void encode(Entry entry, ByteBuffer to) {
        switch (entry) {
            case Entry.Noop _ -> to.put(NOOP);
            case Entry.Import imported -> to.put(IMPORT).putLong(imported.instance());
            case Entry.Command command -> {
                to.put(COMMAND).putLong(command.timestamp());
                putValue(to, command.value(), command.destinations());
            }
            case Entry.Members members ->
                    MembershipCodec.put(to.put(MEMBERS), members.membership());
            case Entry.Skip skip -> to.put(SKIP).putLong(skip.position());
            case Entry.Subscription change ->
                    to.put(SUBSCRIPTION)
                            .putInt(change.group())
                            .putInt(change.ring())
                            .put((byte) (change.follows() ? 1 : 0))
                            .putLong(change.instance())
                            .putLong(change.position());
        }
    }

    static void putValue(ByteBuffer to, byte[] value, int[] destinations) {
        to.putShort((short) destinations.length);
        for (int destination : destinations) {
            to.putInt(destination);
        }
        to.putInt(value.length).put(value);
    }

    public static Batch decode(ByteBuffer from) throws WireException {
        int count = from.getInt();
        Limits.count(from, count, 1);
        List<Entry> entries = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            entries.add(entry(from));
        }
        return new Batch(entries);
    }

    static Entry entry(ByteBuffer from) throws WireException {
        byte tag = from.get();
        return switch (tag) {
            case NOOP -> new Entry.Noop();
            case IMPORT -> new Entry.Import(from.getLong());
            case COMMAND -> {
                long timestamp = from.getLong();
                int[] destinations = destinations(from);
                yield new Entry.Command(timestamp, value(from), destinations);
            }
            case MEMBERS -> new Entry.Members(MembershipCodec.get(from));
            case SKIP -> new Entry.Skip(from.getLong());
            case SUBSCRIPTION ->
                    new Entry.Subscription(
                            from.getInt(),
                            from.getInt(),
                            from.get() != 0,
                            from.getLong(),
                            from.getLong());
            default -> throw new WireException("unknown entry kind " + tag);
        };
    }

    static int[] destinations(ByteBuffer from) throws WireException {
        int count = Short.toUnsignedInt(from.getShort());
        if (count == 0) {
            return NO_DESTINATIONS;
        }
        Limits.count(from, count, 4);
        int[] destinations = new int[count];
        for (int i = 0; i < count; i++) {
            destinations[i] = from.getInt();
        }
        return destinations;
    }

    static byte[] value(ByteBuffer from) throws WireException {
        int length = from.getInt();
        Limits.count(from, length, 1);
        byte[] value = new byte[length];
        from.get(value);
        return value;
    }
}

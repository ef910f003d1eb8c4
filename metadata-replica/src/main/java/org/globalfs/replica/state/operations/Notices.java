package org.globalfs.replica.state.operations;

import java.util.ArrayList;
import java.util.List;
import org.globalfs.protocol.wire.BlockRef;
import org.globalfs.protocol.wire.NoticesOp;
import org.globalfs.replica.state.model.Blocks;
import org.globalfs.replica.state.model.CorruptRecordException;
import org.globalfs.replica.state.model.Counters;
import org.globalfs.replica.state.model.Effect;
import org.globalfs.replica.state.model.Keys;
import org.globalfs.replica.state.model.MutableRecords;
import org.globalfs.replica.state.model.Packer;
import org.globalfs.replica.state.model.Partitions;
import org.globalfs.replica.state.model.Table;
import org.globalfs.replica.state.model.Unpacker;

/**
 * What a partition owes others, in order: each row is written with the change that it tells of, and
 * stays until partition 0 has passed it on. Rows are numbered, and partition 0 knows the last one
 * of each partition, so each takes effect once however often it is proposed.
 */
final class Notices {

    private static final int FORMAT = 1;
    private static final int FORGET = 1;
    private static final int GIVE_BACK = 2;
    private static final int DISCARD = 3;

    private final MutableRecords records;
    private final Counters counters;

    Notices(MutableRecords records, Counters counters) {
        this.records = records;
        this.counters = counters;
    }

    /** An inode that was born elsewhere is no more. */
    void forget(long ino) {
        add(new Packer(10).u8(FORMAT).u8(FORGET).i64(ino).done());
    }

    /** A block that was lent so often is not needed any more. */
    void giveBack(BlockRef block, long loans) {
        Packer out = new Packer(40).u8(FORMAT).u8(GIVE_BACK).varint(loans);
        Blocks.pack(out, block);
        add(out.done());
    }

    /** What was copied of a directory to another partition is not needed. */
    void discard(long ino, int to, long copy) {
        add(new Packer(30).u8(FORMAT).u8(DISCARD).i64(ino).varint(to).i64(copy).done());
    }

    private void add(byte[] notice) {
        counters.noticed++;
        records.put(Table.NOTICE, Keys.of(counters.noticed), notice);
    }

    /** In partition 0: what these notices of a partition come down to, those that are new. */
    List<Effect> deliver(NoticesOp op) {
        int from = op.getPartition();
        long last = counters.noticesOf.getOrDefault(from, 0L);
        List<Effect> effects = new ArrayList<>();
        long number = op.getFirst();
        long below = counters.globalBelow;
        for (byte[] notice : bytes(op)) {
            if (number == last + 1) {
                List<Effect> due = effects(from, notice);
                below -= due.stream().anyMatch(this::endsGlobalDirectory) ? 1 : 0;
                effects.addAll(due);
                last = number;
            }
            number++;
        }
        counters.noticesOf.put(from, last);
        if (below != counters.globalBelow) {
            effects.add(new Effect.GlobalBelow(0, below));
            for (int other : counters.given.keySet()) {
                effects.add(new Effect.GlobalBelow(other, below));
            }
        }
        // Also when nothing was new: whoever asks may not have heard.
        effects.add(new Effect.Delivered(from, last));
        return effects;
    }

    private boolean endsGlobalDirectory(Effect effect) {
        byte[] row =
                effect instanceof Effect.Forget forget && forget.partition() == 0
                        ? records.get(Table.FORWARD, Keys.of(forget.ino()))
                        : null;
        return row != null && Homes.isDirectory(row);
    }

    private static List<byte[]> bytes(NoticesOp op) {
        List<byte[]> all = new ArrayList<>();
        op.getNotices()
                .forEach(notice -> {
                    byte[] bytes = new byte[notice.remaining()];
                    notice.duplicate().get(bytes);
                    all.add(bytes);
                });
        return all;
    }

    private static List<Effect> effects(int from, byte[] notice) {
        Unpacker in = new Unpacker(notice).version(FORMAT, "notice");
        return switch (in.u8()) {
            case FORGET -> {
                long ino = in.i64();
                int birth = Partitions.ofBirth(ino);
                Effect here = new Effect.Forget(0, ino);
                Effect there = new Effect.Forget(from, ino);
                yield birth == 0
                        ? List.of(here, there)
                        : List.of(here, there, new Effect.Forget(birth, ino));
            }
            case GIVE_BACK -> {
                long loans = in.varint();
                BlockRef block = Blocks.unpack(in);
                yield List.of(new Effect.TakeBack(block.getRegion(), from, block, loans));
            }
            case DISCARD -> {
                long ino = in.i64();
                int to = in.varint32();
                yield List.of(new Effect.Discard(to, ino, in.i64()));
            }
            default -> throw new CorruptRecordException("notice of unknown kind");
        };
    }

    /** In the partition that owed them: they were delivered through this one. */
    void delivered(long through) {
        for (long number = counters.noticesDelivered + 1; number <= through; number++) {
            records.delete(Table.NOTICE, Keys.of(number));
        }
        counters.noticesDelivered = Math.max(counters.noticesDelivered, through);
    }
}

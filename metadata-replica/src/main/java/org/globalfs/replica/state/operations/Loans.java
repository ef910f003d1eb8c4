package org.globalfs.replica.state.operations;

import java.util.Map;
import org.globalfs.protocol.Invariant;
import org.globalfs.protocol.wire.BlockRef;
import org.globalfs.replica.state.model.Blocks;
import org.globalfs.replica.state.model.Counters;
import org.globalfs.replica.state.model.Keys;
import org.globalfs.replica.state.model.MutableRecords;
import org.globalfs.replica.state.model.Packer;
import org.globalfs.replica.state.model.Table;
import org.globalfs.replica.state.model.Unpacker;
import org.jspecify.annotations.Nullable;

/**
 * Blocks that files took along when they moved to another partition. A block stays its region's:
 * the partition there goes on referring to it, once for each move that took it along, until the
 * other one has said that it needs it no more. So a sweep only has to ask its own partition.
 *
 * <p>Invariant: of every loan both sides have the same count, once all that is on its way has
 * arrived; the lender's block counts it as references, the borrower has it while any extent there
 * refers to the block.
 */
public final class Loans {

    private static final int FORMAT = 1;

    private final MutableRecords records;
    private final Counters counters;
    private final Notices notices;

    Loans(MutableRecords records, Counters counters) {
        this.records = records;
        this.counters = counters;
        this.notices = new Notices(records, counters);
    }

    private static byte[] key(BlockRef block, int borrower) {
        return Keys.of(block.getIdHigh(), block.getIdLow(), borrower);
    }

    /** A value of {@link Table#LOAN}. */
    public static long count(byte @Nullable [] row) {
        return row == null ? 0 : new Unpacker(row).version(FORMAT, "loan").varint();
    }

    /** Whether the block belongs to another region. */
    boolean isForeign(BlockRef block) {
        return block.getRegion() != counters.partition;
    }

    private void change(BlockRef block, int borrower, long change) {
        byte[] key = key(block, borrower);
        long count = count(records.get(Table.LOAN, key)) + change;
        Invariant.check(
                count >= 0,
                "block %x%016x was lent %s times",
                block.getIdHigh(),
                block.getIdLow(),
                count);
        if (count == 0) {
            records.delete(Table.LOAN, key);
        } else {
            records.put(Table.LOAN, key, new Packer(4).u8(FORMAT).varint(count).done());
        }
    }

    /** One move took these blocks along, with so many extents each. */
    void lend(Content content, Map<BlockRef, Integer> extents, int borrower) {
        extents.forEach((block, gone) -> {
            change(block, borrower, 1);
            if (gone != 1) {
                content.refer(block, 1 - gone);
            }
        });
    }

    /** One move brought these blocks, with so many extents each. */
    void borrow(Content content, Map<BlockRef, Integer> extents) {
        extents.forEach((block, come) -> {
            content.refer(block, come);
            if (isForeign(block)) {
                change(block, counters.partition, 1);
            }
        });
    }

    /** No extent here refers to the block any more; false: it is this region's own. */
    boolean giveBack(BlockRef block) {
        byte[] key = key(block, counters.partition);
        long count = isForeign(block) ? count(records.get(Table.LOAN, key)) : 0;
        if (count == 0) {
            return false;
        }
        records.delete(Table.LOAN, key);
        notices.giveBack(block, count);
        return true;
    }

    /** The borrower does not need the block any more. */
    void takeBack(Content content, BlockRef block, int borrower, long loans) {
        byte[] row = records.get(Table.BLOCK, Blocks.key(block));
        Invariant.check(row != null, "a block that is lent is not there");
        change(block, borrower, -loans);
        content.refer(block, -loans);
    }
}

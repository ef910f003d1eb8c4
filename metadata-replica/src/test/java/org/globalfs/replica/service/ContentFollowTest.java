package org.globalfs.replica.service;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.globalfs.protocol.wire.BlockRef;
import org.globalfs.protocol.wire.BlocksDeletedOp;
import org.globalfs.protocol.wire.Command;
import org.globalfs.protocol.wire.ContentOp;
import org.globalfs.protocol.wire.Extent;
import org.globalfs.protocol.wire.FenceBlocksOp;
import org.globalfs.protocol.wire.MoveOp;
import org.globalfs.protocol.wire.ReadOp;
import org.globalfs.protocol.wire.UpdateOp;
import org.globalfs.protocol.wire.WriteOp;
import org.globalfs.replica.state.Consistency;
import org.globalfs.replica.state.model.Mode;
import org.globalfs.replica.state.model.Partitions;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Content follows a file to another region while the file is changed there. */
final class ContentFollowTest {

    private static final int BLOCK_BYTES = 100_000;
    private static final int HALF = BLOCK_BYTES / 2;

    /** More than follow at a time. */
    private static final int BLOCKS_BETWEEN = 5;

    /** Later than the time in any block's id, unless its maker is told of it. */
    private static final long FENCE_MS = 1_000;

    private static final long WRITER = 1_000;
    private static final String COPIED = "block copied to 2";

    @TempDir private Path folder;
    private final Set<BlockRef> deleted = new HashSet<>();
    private CutRegions all;
    private long home;
    private long file;
    private long sequence;
    private int copied;

    /** A block, a half of it at the file's beginning and one at its end. */
    @BeforeEach
    void fill() throws IOException {
        fill(new CutRegions(folder.resolve("fast")));
    }

    private void fill(CutRegions regions) {
        all = regions;
        home = all.made(1, Partitions.ROOT, "home", Mode.DIRECTORY | 0755);
        file = all.made(1, home, "file", Mode.REGULAR | 0644);
        BlockRef halved = all.newBlock(1, BLOCK_BYTES);
        List<Extent> extents = new ArrayList<>();
        extents.add(new Extent(0, HALF).setBlock(halved).setBlockOffset(0));
        for (int i = 1; i <= BLOCKS_BETWEEN; i++) {
            extents.add(whole(i, all.newBlock(1, BLOCK_BYTES)));
        }
        long end = (long) (BLOCKS_BETWEEN + 1) * BLOCK_BYTES;
        extents.add(new Extent(end, HALF).setBlock(halved).setBlockOffset(HALF));
        all.done(1, 1, UpdateOp.write(new WriteOp(file, extents)));
        all.settle();
    }

    @AfterEach
    void check() {
        all.settle();
        Consistency.check(all, CutRegions.COUNT);
        all.checkReplicas();
        all.close();
    }

    private static Extent whole(int number, BlockRef block) {
        return new Extent((long) number * BLOCK_BYTES, BLOCK_BYTES)
                .setBlock(block)
                .setBlockOffset(0);
    }

    private void move(Long... files) {
        all.done(1, 0, UpdateOp.move(new MoveOp(List.of(files), 2)));
    }

    private List<BlockRef> blocks(long ino) {
        ReadOp op = ReadOp.content(new ContentOp(ino, 0, Long.MAX_VALUE));
        return all.readAt(ino, 0, op).getExtents().stream().map(Extent::getBlock).toList();
    }

    /** Executes it in region 2 while something else is under way there. */
    private void meanwhile(UpdateOp op) {
        sequence++;
        Command command = new Command(WRITER, sequence, sequence, CutRegions.root(), 2, op);
        all.order(2, CommandBytes.of(command));
        assertThat(all.region(2).takeReply(2, command))
                .satisfies(reply -> assertThat(reply.getErrno()).isZero());
    }

    private void deleteDoomed() {
        List<BlockRef> doomed = all.state(2).doomed(100);
        deleted.addAll(doomed);
        all.order(2, CommandBytes.internal(2, UpdateOp.blocksDeleted(new BlocksDeletedOp(doomed))));
    }

    @Test
    void aBlockIsCopiedOnceThoughItsPartsFollowOneAfterTheOther() {
        all.beforeSteps(what -> copied += what.equals(COPIED) ? 1 : 0);
        move(file);
        all.settle();
        assertThat(copied).isEqualTo(1 + BLOCKS_BETWEEN);
        assertThat(blocks(file)).allMatch(block -> block.getRegion() == 2);
        assertThat(blocks(file).getFirst()).isEqualTo(blocks(file).getLast());
    }

    @Test
    void aCopyThatTheFileHasGivenUpSinceIsNotUsedAgain() {
        all.beforeSteps(what -> {
            if (what.equals(COPIED) && ++copied == BLOCKS_BETWEEN) {
                // The first ones have followed; the second half is to follow with the others.
                meanwhile(
                        UpdateOp.write(
                                new WriteOp(
                                        file,
                                        List.of(
                                                new Extent(0, HALF)
                                                        .setBlock(all.newBlock(2, HALF))
                                                        .setBlockOffset(0)))));
                deleteDoomed();
            }
        });
        move(file);
        all.settle();
        assertThat(deleted).hasSize(1);
        assertThat(blocks(file)).allMatch(block -> block.getRegion() == 2);
        assertThat(blocks(file)).doesNotContainAnyElementsOf(deleted);
    }

    @Test
    void aFileWithALostBlockHoldsNoOtherUp() {
        long other = all.made(1, home, "other", Mode.REGULAR | 0644);
        BlockRef block = all.newBlock(1, BLOCK_BYTES);
        all.done(1, 1, UpdateOp.write(new WriteOp(other, List.of(whole(0, block)))));
        BlockRef lost = blocks(file).getFirst();
        all.lost(lost, true);
        move(file, other);
        for (int second = 0; second < 60; second++) {
            all.region(2).opened(file);
            all.pass(1);
        }
        assertThat(blocks(file)).contains(lost);
        assertThat(blocks(other)).allMatch(there -> there.getRegion() == 2);
        all.lost(lost, false);
    }

    /** As when this region's clock is behind that which the fence was made by. */
    @Test
    void copiesAreNotOlderThanTheFenceOfTheirPartition() {
        all.internal(2, UpdateOp.fenceBlocks(new FenceBlocksOp(FENCE_MS)));
        all.beforeSteps(what -> copied += what.equals(COPIED) ? 1 : 0);
        move(file);
        all.settle();
        assertThat(copied).isEqualTo(1 + BLOCKS_BETWEEN);
        assertThat(blocks(file)).allMatch(block -> block.getRegion() == 2);
    }

    @Test
    void whatWasCopiedBeforeAFenceThatIsLaterIsCopiedAgain() {
        all.beforeSteps(what -> {
            if (what.equals(COPIED) && ++copied == 2) {
                all.order(
                        2,
                        CommandBytes.internal(
                                2, UpdateOp.fenceBlocks(new FenceBlocksOp(FENCE_MS))));
            }
        });
        move(file);
        all.settle();
        assertThat(blocks(file)).allMatch(block -> block.getRegion() == 2);
    }

    /** It may take longer until the next block may be copied than copies are kept in vain. */
    @Test
    void howeverSlowlyContentFollowsACopyIsReferredToAtOnce() throws IOException {
        check();
        fill(new CutRegions(folder.resolve("slow"), BLOCK_BYTES / 5));
        List<String> steps = new ArrayList<>();
        all.beforeSteps(steps::add);
        move(file);
        all.settle();
        assertThat(blocks(file)).allMatch(block -> block.getRegion() == 2);
        steps.removeIf(what -> !List.of(COPIED, "pause", "COMPACT ordered in 2").contains(what));
        for (int i = 0; i < steps.size(); i++) {
            if (steps.get(i).equals(COPIED)) {
                assertThat(steps.get(i + 1)).isEqualTo("COMPACT ordered in 2");
            }
        }
        assertThat(steps.stream().filter("pause"::equals).count())
                .as("seconds, at 5 a block")
                .isGreaterThanOrEqualTo(5L * BLOCKS_BETWEEN);
    }
}

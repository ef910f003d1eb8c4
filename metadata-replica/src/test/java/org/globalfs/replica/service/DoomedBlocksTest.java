package org.globalfs.replica.service;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.globalfs.protocol.Shutdown;
import org.globalfs.protocol.wire.BlockRef;
import org.globalfs.protocol.wire.Extent;
import org.globalfs.protocol.wire.SetAttributesOp;
import org.globalfs.protocol.wire.UpdateOp;
import org.globalfs.protocol.wire.WriteOp;
import org.globalfs.replica.state.model.Mode;
import org.globalfs.replica.state.model.Partitions;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What no file refers to any more is deleted from the datastore, whatever cannot be. */
final class DoomedBlocksTest {

    private static final int BATCH = 3;
    private static final int BLOCK_BYTES = 100_000;

    @TempDir private Path folder;
    private final List<BlockRef> blocks = new ArrayList<>();

    /** Blocks of which a node that is away has something. */
    private final Set<BlockRef> held = new HashSet<>();

    private final Set<BlockRef> asked = new HashSet<>();
    private CutRegions all;
    private long file;
    private int requests;
    private DoomedBlocks doomed;

    @BeforeEach
    void emptyAFileOfTenBlocks() throws IOException {
        all = new CutRegions(folder);
        long home = all.made(1, Partitions.ROOT, "home", Mode.DIRECTORY | 0755);
        file = all.made(1, home, "file", Mode.REGULAR | 0644);
        doom(10);
        doomed =
                new DoomedBlocks(
                        all.region(1).own,
                        new SteppedMulticast(all, 1),
                        this::delete,
                        new Shutdown(),
                        BATCH);
    }

    private void doom(int count) {
        for (int i = 0; i < count; i++) {
            BlockRef block = all.newBlock(1, BLOCK_BYTES);
            blocks.add(block);
            Extent extent =
                    new Extent((long) i * BLOCK_BYTES, BLOCK_BYTES)
                            .setBlock(block)
                            .setBlockOffset(0);
            all.done(1, 1, UpdateOp.write(new WriteOp(file, List.of(extent))));
        }
        all.done(1, 1, UpdateOp.setAttributes(new SetAttributesOp(file).setSize(0)));
    }

    @AfterEach
    void end() {
        all.close();
    }

    private List<BlockRef> delete(List<BlockRef> refs) {
        requests++;
        asked.addAll(refs);
        return refs.stream().filter(ref -> !held.contains(ref)).toList();
    }

    private List<BlockRef> left() {
        return all.state(1).doomed(100);
    }

    private void ticks(int times) {
        for (int i = 0; i < times; i++) {
            doomed.tick();
            all.settle();
        }
    }

    @Test
    void allIsTriedWhileNothingCanBeDeleted() {
        assertThat(left()).hasSameElementsAs(blocks);
        held.addAll(blocks);
        ticks(4);
        assertThat(asked).hasSameElementsAs(blocks);
        assertThat(left()).hasSameElementsAs(blocks);
        held.clear();
        ticks(DoomedBlocks.LONGEST_REST + 4);
        assertThat(left()).isEmpty();
    }

    @Test
    void whatCannotBeDeletedHoldsNothingElseUp() {
        held.addAll(left().subList(0, BATCH));
        ticks(5);
        assertThat(left()).hasSameElementsAs(held);
    }

    @Test
    void whatIsDoomedNowIsTriedNextHoweverMuchIsTriedInVain() {
        doom(20 * BATCH);
        held.addAll(blocks);
        ticks(25);
        doom(1);
        ticks(1);
        assertThat(asked).contains(blocks.getLast());
        assertThat(left()).hasSameElementsAs(held);
    }

    /** All nodes look for all of it, also those that have nothing of it any more. */
    @Test
    void whatIsTriedInVainIsTriedLessOftenUntilSomeOfItIsGone() {
        held.addAll(blocks);
        ticks(4);
        requests = 0;
        ticks(DoomedBlocks.LONGEST_REST * 3);
        assertThat(requests).isBetween(2, DoomedBlocks.LONGEST_REST);
        held.clear();
        ticks(DoomedBlocks.LONGEST_REST + 4);
        assertThat(left()).isEmpty();
    }
}

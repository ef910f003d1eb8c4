package org.globalfs.replica.service;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Set;
import org.globalfs.protocol.wire.Command;
import org.globalfs.protocol.wire.RenameOp;
import org.globalfs.protocol.wire.SetAttributesOp;
import org.globalfs.protocol.wire.UpdateOp;
import org.globalfs.replica.state.PartitionState;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What a coordinator remembers of updates and operations that end without its hearing of it. */
@Timeout(60)
class GrantsUpkeepTest {

    private static final int DIRECTORY = 0040755;
    private static final int FILE = 0100644;
    private static final long FAR_NS = 10_000_000_000L;

    @TempDir private Path folder;
    private CutRegions all;
    private CutRegion region;
    private Grants grants;
    private boolean coordinates = true;

    @BeforeEach
    void start() throws IOException {
        all = new CutRegions(folder);
        region = all.region(1);
        SteppedMulticast multicast =
                new SteppedMulticast(all, 1) {
                    @Override
                    public long term(int ring) {
                        return coordinates ? 1 : NONE;
                    }
                };
        grants = new Grants(region.own, region.global, multicast, 256 << 20);
    }

    @AfterEach
    void stop() {
        all.close();
    }

    @Test
    void nobodyWaitsForAnUpdateThatWentWithItsCoordinator() throws Exception {
        long top = all.made(1, TestSession.ROOT, "top", DIRECTORY);
        UpdateOp op = UpdateOp.setAttributes(new SetAttributesOp(top).setMode(0700));
        Command command = new Command(7, 1, 1, CutRegions.root(), 1, op);
        Grants.Permit permit = grants.admit(command, System.nanoTime() + FAR_NS);
        assertThat(permit).isNotNull();
        try (Waiters.Waiter waiter = region.own.waiters.enter(7, 1)) {
            grants.leave(permit, waiter);
        }
        grants.tick();
        assertThat(region.own.waiters.count()).as("it may still be executed").isEqualTo(1);
        coordinates = false;
        grants.tick();
        assertThat(region.own.waiters.count()).isZero();
    }

    /** As when a peer's checkpoint stands in for the instances with the decision. */
    @Test
    void anOperationThatWasDecidedUnheardIsForgotten() {
        long one = all.made(1, TestSession.ROOT, "one", DIRECTORY);
        long other = all.made(2, TestSession.ROOT, "other", DIRECTORY);
        all.made(1, one, "file", FILE);
        Set<Integer> known = new HashSet<>();
        all.beforeSteps(step -> {
            held().forEach(grants::cleared);
            if (!held().isEmpty()) {
                grants.tick();
                known.add(grants.operations());
            }
        });
        RenameOp rename =
                new RenameOp(one, TestSession.bytes("file"), other, TestSession.bytes("file"), 0);
        Errand errand = all.send(1, 1, UpdateOp.rename(rename));
        all.until(() -> errand.outcome() != null);
        all.settle();
        assertThat(known).as("while undecided").containsExactly(1);
        assertThat(held()).isEmpty();
        grants.tick();
        assertThat(grants.operations()).isZero();
    }

    private Set<Long> held() {
        return region.own.use(PartitionState::held).keySet();
    }
}

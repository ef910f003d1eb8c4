package org.globalfs.replica.service;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.thrift.TException;
import org.globalfs.protocol.wire.CollectOrphansOp;
import org.globalfs.protocol.wire.Command;
import org.globalfs.protocol.wire.CreateOp;
import org.globalfs.protocol.wire.RenewSessionOp;
import org.globalfs.protocol.wire.UpdateOp;
import org.globalfs.replica.state.PartitionState;
import org.globalfs.replica.state.operations.Wire;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** How what nobody holds open any more is collected, and when not. */
@Timeout(60)
class OrphanUpkeepTest {

    private static final int DIRECTORY = 0040755;
    private static final int FILE = 0100644;
    private static final long CLIENT = 7;
    private static final int MANY = 2_000;
    private static final long GRACE_SECONDS = 61;

    @TempDir private Path folder;
    private final List<CollectOrphansOp> proposed = new ArrayList<>();
    private CutRegions all;
    private HostedPartition partition;
    private OrphanUpkeep upkeep;
    private long top;
    private long sequence;

    @BeforeEach
    void start() throws IOException {
        all = new CutRegions(folder);
        partition = all.region(1).own;
        SteppedMulticast multicast =
                new SteppedMulticast(all, 1) {
                    @Override
                    public boolean propose(int ring, byte[] value, int[] destinations) {
                        try {
                            Command command = Wire.decode(new Command(), value);
                            proposed.add(command.getOp().getCollectOrphans());
                        } catch (TException e) {
                            throw new AssertionError(e);
                        }
                        return super.propose(ring, value, destinations);
                    }
                };
        upkeep = new OrphanUpkeep(partition, multicast, all::nowNs);
        top = all.made(1, TestSession.ROOT, "top", DIRECTORY);
    }

    @AfterEach
    void stop() {
        all.close();
    }

    private void order(UpdateOp op) {
        sequence++;
        Command command = new Command(CLIENT, sequence, sequence, CutRegions.root(), 1, op);
        all.order(1, CommandBytes.of(command));
    }

    private void unnamed(int count) {
        for (int i = 0; i < count; i++) {
            CreateOp create = new CreateOp(top, ByteBuffer.allocate(0), FILE);
            order(UpdateOp.create(create.setTemporary(true)));
        }
    }

    private void renew(List<Long> open) {
        order(UpdateOp.renewSession(new RenewSessionOp(open)));
    }

    private void pass(long seconds) {
        for (long second = 0; second < seconds; second++) {
            all.pass(1);
            upkeep.tick();
        }
    }

    private long left() {
        return partition.use(PartitionState::orphans);
    }

    /** To look at each of them while it is executed would hold up all updates. */
    @Test
    void nothingIsOrderedWhileNothingIsDue() {
        unnamed(MANY);
        pass(GRACE_SECONDS - 10);
        assertThat(proposed).isEmpty();
        assertThat(left()).isEqualTo(MANY);
    }

    @Test
    void manyAreCollectedPartByPartWithoutAPauseBetween() {
        unnamed(MANY);
        pass(1);
        renew(List.of());
        pass(GRACE_SECONDS);
        pass(9);
        assertThat(left()).isZero();
        assertThat(proposed).hasSize(4);
        assertThat(proposed)
                .allSatisfy(op -> {
                    assertThat(op.getFirst()).isPositive();
                    assertThat(op.getLast() - op.getFirst()).isLessThan(MANY / 2);
                });
    }

    @Test
    void whatIsHeldOpenHoldsNothingElseUp() {
        unnamed(MANY);
        List<Long> open = new ArrayList<>();
        for (PartitionState.Orphaned part = due(0); part.count() > 0; part = due(part.next())) {
            open.add(part.first());
            if (part.next() == 0) {
                break;
            }
        }
        List<Long> held = open.subList(0, MANY / 2);
        renew(held);
        pass(GRACE_SECONDS + 20);
        assertThat(left()).isEqualTo(MANY / 2);
        assertThat(held).allMatch(ino -> partition.use(state -> state.isOrphan(ino)));
    }

    private PartitionState.Orphaned due(long from) {
        return partition.use(state -> state.orphaned(from, Long.MAX_VALUE, 1, 1));
    }

    @Test
    void sessionsAreLookedAfterWhereNothingIsUnlinked() {
        order(UpdateOp.create(new CreateOp(top, TestSession.bytes("file"), FILE)));
        pass(3_590);
        assertThat(proposed).isEmpty();
        pass(20);
        assertThat(proposed).hasSize(1);
    }
}

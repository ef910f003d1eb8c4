package org.globalfs.replica.service;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.globalfs.protocol.wire.MoveOp;
import org.globalfs.protocol.wire.UnlinkOp;
import org.globalfs.protocol.wire.UpdateOp;
import org.globalfs.replica.state.Consistency;
import org.globalfs.replica.state.PartitionState;
import org.globalfs.replica.state.model.Mode;
import org.globalfs.replica.state.model.Partitions;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the copying ahead of directories leaves behind goes by itself. */
final class CopyUpkeepTest {

    private static final int NAMES = 60;
    private static final int ROOM = 150;
    private static final long PATIENCE_S = TimeUnit.NANOSECONDS.toSeconds(CopyUpkeep.PATIENCE_NS);

    @TempDir private Path folder;
    private CutRegions all;
    private long directory;

    @BeforeEach
    void fill() throws IOException {
        all = new CutRegions(folder);
        directory = all.made(1, Partitions.ROOT, "large", Mode.DIRECTORY | 0755);
        for (int i = 0; i < NAMES; i++) {
            all.made(1, directory, "f" + i, Mode.REGULAR | 0644);
        }
    }

    @AfterEach
    void check() {
        all.settle();
        for (int region = 1; region <= CutRegions.COUNT; region++) {
            assertThat(copying(region)).isEqualTo(new PartitionState.Copying(List.of(), false));
            assertThat(staged(region)).isZero();
        }
        Consistency.check(all, CutRegions.COUNT);
        all.checkReplicas();
        all.close();
    }

    private static ByteBuffer bytes(String text) {
        return ByteBuffer.wrap(text.getBytes(UTF_8));
    }

    private void move() {
        MoveOp op = new MoveOp(List.of(directory), 2).setBytes(ROOM);
        assertThat(all.done(1, 0, UpdateOp.move(op)).getStayed()).isEmpty();
    }

    private PartitionState.Copying copying(int region) {
        return all.region(region).own.use(PartitionState::copying);
    }

    private long staged(int region) {
        return all.region(region).own.use(PartitionState::check).report().staged;
    }

    @Test
    void entriesGoOnceTheDirectoryHasMoved() {
        while (all.home(directory) != 2) {
            move();
        }
        all.settle();
        assertThat(staged(1)).isZero();
    }

    @Test
    void aMoveThatNobodyGoesOnWithIsForgotten() {
        move();
        move();
        all.pass(PATIENCE_S - 100);
        assertThat(copying(1).copies()).hasSize(1);
        move();
        all.pass(PATIENCE_S - 100);
        assertThat(copying(1).copies()).as("it has just gone on").hasSize(1);
        assertThat(staged(2)).isEqualTo(1);
        all.pass(200);
        assertThat(all.home(directory)).isEqualTo(1);
    }

    @Test
    void itIsForgottenWhenThePartitionItWouldGoToIsBackAgain() {
        move();
        all.isolate(2);
        for (int i = 0; i < NAMES; i++) {
            all.done(1, 1, UpdateOp.unlink(new UnlinkOp(directory, bytes("f" + i), false)));
        }
        all.done(1, 0, UpdateOp.unlink(new UnlinkOp(Partitions.ROOT, bytes("large"), true)));
        all.pass(10);
        assertThat(copying(1).copies()).isEmpty();
        assertThat(staged(2)).isEqualTo(1);
        all.heal();
    }
}

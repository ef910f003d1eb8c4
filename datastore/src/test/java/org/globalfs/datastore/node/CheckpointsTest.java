package org.globalfs.datastore.node;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.List;
import org.globalfs.protocol.Disk;
import org.globalfs.protocol.DiskWatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CheckpointsTest {
    @TempDir Path folder;

    /** Or its garbage would be unknown to the start that trusts a later one. */
    @Test
    void aSegmentThatTheIndexDidNotTakeIsStillToBeTaken() throws IOException {
        SegmentStore.Options options =
                new SegmentStore.Options("c", "n", Long.MAX_VALUE, 0, 1 << 20, true);
        DiskWatch disk = new DiskWatch("test", folder, Disk.of(folder), 0);
        GroupSync groupSync = new GroupSync();
        SegmentFolder files = new SegmentFolder(folder, options, disk, groupSync, FaultPoints.NONE);
        SegmentFile segment = SegmentFile.create(folder, 1, "c", "n", FaultPoints.NONE);
        files.found(segment);
        Checkpoints refused;
        try (ChunkIndex index = ChunkIndex.open(folder.resolve("index"))) {
            refused = new Checkpoints(index, files, groupSync, disk);
        }
        assertThatThrownBy(() -> refused.take(List.of())).isInstanceOf(UncheckedIOException.class);
        assertThat(segment.summary()).isNotNull();
        try (ChunkIndex index = ChunkIndex.open(folder.resolve("index"))) {
            new Checkpoints(index, files, groupSync, disk).take(List.of());
            assertThat(segment.summary()).isNull();
            assertThat(index.summary(1)).isNotNull();
        }
        files.close();
    }
}

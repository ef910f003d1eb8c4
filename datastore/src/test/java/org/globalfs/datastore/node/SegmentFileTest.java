package org.globalfs.datastore.node;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SegmentFileTest {
    @TempDir Path folder;
    private SegmentFile file;

    @BeforeEach
    void create() throws IOException {
        file = SegmentFile.create(folder, 1, "c", "n", FaultPoints.NONE);
    }

    @AfterEach
    void close() throws IOException {
        file.close();
    }

    private long stampOnDisk() throws IOException {
        ByteBuffer header = ByteBuffer.allocate(SegmentFile.HEADER_BYTES);
        file.read(header, 0);
        return SegmentFile.stamp(header.flip());
    }

    /** A delete may have seen the epoch before a checkpoint, and come after the next death. */
    @Test
    void aStampIsNotTakenBack() throws IOException {
        file.stamp(7);
        file.stamp(6);
        assertThat(stampOnDisk()).isEqualTo(7);
        file.stamp(8);
        assertThat(stampOnDisk()).isEqualTo(8);
    }

    /** Or the file might be removed, or punched, with that record alive in it. */
    @Test
    void aRecordThatCouldNotBeKilledDoesNotCountAsDead() throws IOException {
        ByteBuffer record = ByteBuffer.allocate(128);
        file.append(record.slice(0, 64), record.slice(64, 64), 128);
        file.close();
        assertThatThrownBy(() -> file.kill(SegmentFile.HEADER_BYTES, 128))
                .isInstanceOf(IOException.class);
        assertThat(file.garbageBytes()).isZero();
        assertThat(file.whollyDead()).isFalse();
    }
}

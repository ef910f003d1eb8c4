package org.globalfs.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DiskWatchTest {

    private static final long RESERVE = 1600;

    @TempDir Path folder;

    private long free = 10_000;
    private final Disk disk =
            new Disk() {
                @Override
                public long freeBytes() {
                    return free;
                }

                @Override
                public long sizeBytes() {
                    return 100_000;
                }
            };
    private final DiskWatch watch = new DiskWatch("test", Path.of("folder"), disk, RESERVE);

    private boolean fullAt(long bytes) throws IOException {
        free = bytes;
        assertThat(watch.look(0)).isEqualTo(bytes - RESERVE);
        assertThat(watch.freeBytes()).isEqualTo(bytes);
        return watch.isFull();
    }

    @Test
    void isFullBelowTheReserveUntilSomeMoreIsFree() throws IOException {
        assertThat(watch.isFull()).isFalse();
        assertThat(fullAt(1600)).isFalse();
        assertThat(fullAt(1599)).isTrue();
        assertThat(fullAt(1600)).isTrue();
        assertThat(fullAt(1699)).isTrue();
        assertThat(fullAt(1700)).isFalse();
        assertThat(fullAt(1600)).isFalse();
        assertThat(fullAt(0)).isTrue();
    }

    @Test
    void whatIsNeededNowCountsAsTaken() throws IOException {
        free = 1700;
        assertThat(watch.look(100)).isEqualTo(100);
        assertThat(watch.isFull()).isFalse();
        watch.look(101);
        assertThat(watch.isFull()).isTrue();
    }

    @Test
    void aReserveIsNoMoreThanItsPartOfASmallDisk() throws IOException {
        assertThat(new DiskReserve(2_000, 5).on(disk)).isEqualTo(2_000);
        assertThat(new DiskReserve(20_000, 5).on(disk)).isEqualTo(5_000);
        assertThat(DiskReserve.exactly(20_000).on(disk)).isEqualTo(20_000);
    }

    @Test
    void aRealDiskHasASize() throws IOException {
        Disk real = Disk.of(folder);
        assertThat(real.freeBytes()).isPositive().isLessThanOrEqualTo(real.sizeBytes());
    }

    @Test
    void knowsAFullDisksErrors() {
        assertThat(Disk.isFull(new IOException("/x: No space left on device"))).isTrue();
        assertThat(Disk.isFull(new IOException("Disk quota exceeded"))).isTrue();
        assertThat(Disk.isFull(new IOException("Input/output error"))).isFalse();
        assertThat(Disk.isFull(new IOException())).isFalse();
    }
}

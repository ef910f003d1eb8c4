package org.globalfs.client.fuse;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MountTest {

    @TempDir Path folder;

    /** Its users go on writing, and the process may end as soon as close returns. */
    @Test
    void whatIsWrittenWhileItDoesNotEndIsMadeDurable() throws Exception {
        AtomicInteger synced = new AtomicInteger();
        MemoryFileSystem fileSystem =
                new MemoryFileSystem(0, false, false) {
                    @Override
                    public void syncAll() {
                        synced.incrementAndGet();
                    }
                };
        InUse mount = new InUse(fileSystem, folder, synced);
        mount.close();
        int asked = synced.get();
        assertThat(mount.mounted()).isTrue();
        assertThat(asked).as("before it is unmounted, and after").isGreaterThan(mount.asked);
        mount.left.countDown();
        mount.await();
    }

    /** Served until everybody has left. */
    private static final class InUse extends Mount {
        final CountDownLatch left = new CountDownLatch(1);
        final AtomicInteger synced;

        /** How often it was synced before it was unmounted. */
        int asked = 1;

        InUse(MemoryFileSystem fileSystem, Path mountpoint, AtomicInteger synced) {
            super(fileSystem, mountpoint, MountOptions.defaults());
            this.synced = synced;
            Thread.ofPlatform().daemon().start(this::finish);
        }

        @Override
        protected void detached() {
            asked = synced.get();
        }

        @Override
        protected void drain() throws InterruptedException {
            left.await();
        }
    }
}

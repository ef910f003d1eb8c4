package org.globalfs.client.fuse;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Workers on a FIFO in the place of a connection: what they read there are no requests. */
class WorkerPoolTest {
    @TempDir Path folder;

    @Test
    void whereThereIsNoThreadMoreThoseThatThereAreGoOn() throws Exception {
        Path fifo = folder.resolve("fifo");
        assertThat(new ProcessBuilder("mkfifo", fifo.toString()).start().waitFor()).isZero();
        FuseDevice device = new FuseDevice(Libc.open(fifo.toString(), Libc.O_RDWR));
        AtomicInteger asked = new AtomicInteger();
        AtomicBoolean threads = new AtomicBoolean();
        WorkerPool pool =
                new WorkerPool(
                        1,
                        8,
                        (owner, number) -> {
                            if (asked.incrementAndGet() > 1 && !threads.get()) {
                                throw new OutOfMemoryError("unable to create native thread");
                            }
                            return new Worker(
                                    owner, device, null, null, null, null, 1_000, "w" + number);
                        });
        pool.start();
        try (OutputStream out = Files.newOutputStream(fifo)) {
            for (int i = 2; i < 5; i++) {
                out.write(1);
                int wanted = i;
                await().until(() -> asked.get() >= wanted);
            }
            assertThat(pool.workers()).hasSize(1);
            threads.set(true);
            out.write(1);
            await().until(() -> pool.workers().size() == 2);
        }
    }
}

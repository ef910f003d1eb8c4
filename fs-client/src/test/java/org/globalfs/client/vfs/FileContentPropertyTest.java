package org.globalfs.client.vfs;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Random;
import org.globalfs.client.FakeBlockStore;
import org.globalfs.client.FakeCluster;
import org.globalfs.client.io.IoOptions;
import org.globalfs.client.vfs.TestClient.Open;
import org.globalfs.protocol.Errno;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Random operations on one file against a byte array: reads here at any time, reads elsewhere after
 * each commit.
 */
class FileContentPropertyTest {

    private static final int SPACE = 9 << 20;

    @TempDir Path folder;

    @ParameterizedTest
    @CsvSource({
        "1,0,40000",
        "2,0,40000",
        "3,800,40000",
        "4,800,2000000",
        "5,0,2000000",
        "6,800,3000"
    })
    void behavesLikeAByteArray(long seed, int leaseMs, int longest) throws FsException {
        System.out.println("seed " + seed);
        Random random = new Random(seed);
        try (FakeCluster cluster = new FakeCluster(folder, 1)) {
            cluster.leaseMs = leaseMs;
            FakeBlockStore blocks = new FakeBlockStore();
            IoOptions options =
                    new IoOptions(
                            16 << 10,
                            6 << 20,
                            12 << 20,
                            16 << 20,
                            Duration.ofMillis(30),
                            Duration.ofSeconds(20),
                            false);
            try (TestClient here = new TestClient(cluster, blocks, 1, options);
                    TestClient there = new TestClient(cluster, blocks, 1, options)) {
                long home = here.mkdir(FileSystem.ROOT, "home");
                run(here, there, here.create(home, "file"), random, longest);
            }
        }
    }

    private static void run(
            TestClient here, TestClient there, Open first, Random random, int longest)
            throws FsException {
        Open file = first;
        Open elsewhere = there.open(file.ino(), OpenFlags.O_RDONLY);
        byte[] model = new byte[SPACE];
        int size = 0;
        int sequential = 0;
        for (int step = 0; step < 400; step++) {
            int offset = random.nextInt(SPACE / 2);
            int length = 1 + random.nextInt(random.nextInt(10) == 0 ? longest : 5_000);
            switch (random.nextInt(16)) {
                case 0, 1, 2, 3 -> {
                    byte[] content = new byte[length];
                    random.nextBytes(content);
                    here.write(file, offset, content);
                    System.arraycopy(content, 0, model, offset, length);
                    size = Math.max(size, offset + length);
                }
                case 4, 5 -> {
                    int at = Math.min(sequential, SPACE - longest - 1);
                    byte[] content = new byte[length];
                    random.nextBytes(content);
                    here.write(file, at, content);
                    System.arraycopy(content, 0, model, at, length);
                    size = Math.max(size, at + length);
                    sequential = (at + length) % (SPACE / 2);
                }
                case 6, 7, 8 -> check(here, file, model, size, offset, length);
                case 9 -> {
                    if (random.nextInt(4) == 0) {
                        int cut = random.nextInt(SPACE / 2);
                        here.set(file.ino(), SetAttributes.SIZE, cut, file.handle());
                        if (cut < size) {
                            Arrays.fill(model, cut, size, (byte) 0);
                        }
                        size = cut;
                    }
                }
                case 10 -> {
                    here.flush(file);
                    check(there, elsewhere, model, size, offset, length);
                    assertThat(there.stat(file.ino()).size()).isEqualTo(size);
                }
                case 11, 12, 13 ->
                        size = rearrange(here, file, random, model, size, offset, length);
                case 14 -> seek(here, file, model, size, offset);
                default -> {
                    Open next = here.open(file.ino(), OpenFlags.O_RDWR);
                    here.close(file);
                    file = next;
                }
            }
        }
        here.close(file);
        for (int at = 0; at < size; at += 1 << 20) {
            check(there, elsewhere, model, size, at, 1 << 20);
        }
        there.close(elsewhere);
    }

    /** Allocates, punches, zeroes or copies; returns the size after it. */
    private static int rearrange(
            TestClient here,
            Open file,
            Random random,
            byte[] model,
            int size,
            int offset,
            int length)
            throws FsException {
        int end = offset + length;
        int[] modes = {0, 1, 3, 16, 17};
        int choice = random.nextInt(8);
        if (choice < modes.length) {
            int mode = modes[choice];
            here.fs.allocate(here.caller(), file.ino(), file.handle(), offset, length, mode);
            if ((mode & ~1) != 0) {
                Arrays.fill(model, offset, end, (byte) 0);
            }
            return (mode & 1) == 0 ? Math.max(size, end) : size;
        }
        int from = random.nextInt(SPACE / 2);
        int most = Math.max(0, Math.min(length, size - from));
        if (Math.abs(from - offset) < length) {
            return size;
        }
        int copied = 0;
        while (copied < most) {
            long step =
                    here.fs.copyRange(
                            here.caller(),
                            new FileSystem.Range(file.ino(), file.handle(), from + copied),
                            new FileSystem.Range(file.ino(), file.handle(), offset + copied),
                            length - copied,
                            0);
            assertThat(step).isBetween(1L, (long) most - copied);
            copied += (int) step;
        }
        System.arraycopy(model, from, model, offset, copied);
        return copied == 0 ? size : Math.max(size, offset + copied);
    }

    private static void seek(TestClient here, Open file, byte[] model, int size, int offset)
            throws FsException {
        if (offset >= size) {
            return;
        }
        long hole = here.fs.seek(here.caller(), file.ino(), file.handle(), offset, 4);
        assertThat(hole).isBetween((long) offset, (long) size);
        assertThat(hole < size && model[(int) hole] != 0).isFalse();
        try {
            long data = here.fs.seek(here.caller(), file.ino(), file.handle(), offset, 3);
            for (int i = offset; i < data; i++) {
                assertThat(model[i]).isZero();
            }
        } catch (FsException e) {
            assertThat(e.errno()).isEqualTo(Errno.ENXIO);
            for (int i = offset; i < size; i++) {
                assertThat(model[i]).isZero();
            }
        }
    }

    private static void check(
            TestClient client, Open file, byte[] model, int size, int offset, int length)
            throws FsException {
        byte[] expected =
                offset >= size
                        ? new byte[0]
                        : Arrays.copyOfRange(model, offset, Math.min(size, offset + length));
        byte[] actual = client.read(file, offset, length);
        assertThat(Arrays.mismatch(actual, expected))
                .as("at %s of %s bytes", offset, length)
                .isEqualTo(-1);
    }
}

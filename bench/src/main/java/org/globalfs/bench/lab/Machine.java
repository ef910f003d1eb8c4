package org.globalfs.bench.lab;

import com.sun.management.OperatingSystemMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.Locale;
import org.globalfs.bench.BenchFailure;

/** The line that says where figures were measured. */
public final class Machine {
    private static final int SYNCS = 300;
    private static final int BLOCK_BYTES = 4096;

    private Machine() {}

    public static String line(Path folder) {
        OperatingSystemMXBean system =
                ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);
        try {
            return String.format(
                    Locale.ROOT,
                    "%d cores, %d GiB, %s %s, JDK %s, %s, fdatasync of 4 KiB %.2f ms, load average %.1f",
                    Runtime.getRuntime().availableProcessors(),
                    system.getTotalMemorySize() >> 30,
                    System.getProperty("os.name"),
                    System.getProperty("os.version"),
                    Runtime.version().feature(),
                    Files.getFileStore(folder).type(),
                    syncNs(folder) / 1e6,
                    system.getSystemLoadAverage());
        } catch (IOException e) {
            throw new BenchFailure("cannot use " + folder, e);
        }
    }

    /**
     * Median of overwriting a block that is on the disk already, as a recycled log segment does.
     */
    private static long syncNs(Path folder) throws IOException {
        Path file = Files.createTempFile(folder, "sync", ".tmp");
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
            ByteBuffer block = ByteBuffer.allocateDirect(BLOCK_BYTES);
            long[] took = new long[SYNCS];
            for (int pass = 0; pass < 2; pass++) {
                for (int i = 0; i < SYNCS; i++) {
                    long start = System.nanoTime();
                    channel.write(block.clear(), (long) i * BLOCK_BYTES);
                    channel.force(false);
                    took[i] = System.nanoTime() - start;
                }
            }
            Arrays.sort(took);
            return took[SYNCS / 2];
        } finally {
            Files.delete(file);
        }
    }
}

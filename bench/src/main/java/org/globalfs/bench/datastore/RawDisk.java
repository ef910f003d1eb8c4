package org.globalfs.bench.datastore;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Random;
import org.globalfs.bench.BenchFailure;

/** What the disk gives whoever appends a block and syncs it, over and over. */
final class RawDisk {
    private static final long MOST_BYTES = 4L << 30;

    private RawDisk() {}

    static double megabytesPerSecond(Path folder, double seconds) {
        try {
            Path file = Files.createTempFile(folder, "raw", ".tmp");
            try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
                return append(channel, seconds).megabytesPerSecond();
            } finally {
                Files.delete(file);
            }
        } catch (IOException e) {
            throw new BenchFailure("cannot write to " + folder, e);
        }
    }

    private static Transfer append(FileChannel channel, double seconds) throws IOException {
        byte[] content = new byte[Setup.BLOCK_BYTES];
        new Random(1).nextBytes(content);
        ByteBuffer block = ByteBuffer.allocateDirect(content.length).put(content);
        long start = System.nanoTime();
        long bytes = 0;
        do {
            block.flip();
            while (block.hasRemaining()) {
                bytes += channel.write(block);
            }
            channel.force(false);
        } while ((System.nanoTime() - start) / 1e9 < seconds && bytes < MOST_BYTES);
        return new Transfer(bytes, System.nanoTime() - start);
    }
}

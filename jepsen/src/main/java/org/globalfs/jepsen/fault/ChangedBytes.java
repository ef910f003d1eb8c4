package org.globalfs.jepsen.fault;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.Random;

/**
 * Bytes of a file that are not what was written.
 *
 * @param at where the first of them is
 */
record ChangedBytes(Path file, long at, byte[] before, byte[] after) {
    private static final int MOST_FLIPPED = 4;
    private static final int FLIPPED_WITHIN = 64;
    private static final int MOST_TORN = 4096;

    /** Changes some: a few flipped bytes, or a run that is zeros or anything. */
    static ChangedBytes in(ServerFiles.Part part, Random random) throws IOException {
        boolean flips = random.nextBoolean();
        int size = part.to() - part.from();
        int most = Math.min(size, flips ? FLIPPED_WITHIN : MOST_TORN);
        int length = flips ? most : 1 + random.nextInt(most);
        long at = part.from() + (long) random.nextInt(size - length + 1);
        try (FileChannel channel =
                FileChannel.open(part.file(), StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            byte[] before = read(channel, at, length);
            byte[] after = flips ? flipped(before, random) : torn(before, random);
            write(channel, at, after);
            return new ChangedBytes(part.file(), at, before, after);
        }
    }

    private static byte[] flipped(byte[] bytes, Random random) {
        byte[] after = bytes.clone();
        for (int i = 1 + random.nextInt(MOST_FLIPPED); i > 0; i--) {
            after[random.nextInt(after.length)] ^= (byte) (1 + random.nextInt(255));
        }
        return changed(bytes, after);
    }

    private static byte[] torn(byte[] bytes, Random random) {
        byte[] after = new byte[bytes.length];
        if (random.nextBoolean()) {
            random.nextBytes(after);
        }
        return changed(bytes, after);
    }

    private static byte[] changed(byte[] before, byte[] after) {
        if (Arrays.equals(before, after)) {
            after[0] ^= 1;
        }
        return after;
    }

    private static byte[] read(FileChannel channel, long at, int length) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(length);
        while (bytes.hasRemaining()) {
            if (channel.read(bytes, at + bytes.position()) < 0) {
                return Arrays.copyOf(bytes.array(), bytes.position());
            }
        }
        return bytes.array();
    }

    private static void write(FileChannel channel, long at, byte[] from) throws IOException {
        ByteBuffer bytes = ByteBuffer.wrap(from);
        while (bytes.hasRemaining()) {
            channel.write(bytes, at + bytes.position());
        }
    }

    /** Changes them back, unless somebody wrote there since. */
    void undo() throws IOException {
        if (!Files.exists(file)) {
            return;
        }
        try (FileChannel channel =
                FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            if (Arrays.equals(read(channel, at, after.length), after)) {
                write(channel, at, before);
            }
        }
    }

    @Override
    public String toString() {
        int changed = 0;
        for (int i = 0; i < after.length; i++) {
            changed += before[i] == after[i] ? 0 : 1;
        }
        return changed + " of " + after.length + " bytes at " + at + " of " + file;
    }
}

package org.globalfs.bench.multicast.member;

import java.io.BufferedOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;

/** The ids that a member delivered, in their order. */
final class DeliveryRecord {
    private long[] ids = new long[1 << 12];
    private int count;

    synchronized void add(long id) {
        if (count == ids.length) {
            ids = Arrays.copyOf(ids, 2 * count);
        }
        ids[count++] = id;
    }

    synchronized int count() {
        return count;
    }

    /** Big-endian longs, one an id. */
    synchronized void write(Path file) throws IOException {
        try (DataOutputStream out =
                new DataOutputStream(new BufferedOutputStream(Files.newOutputStream(file)))) {
            for (int i = 0; i < count; i++) {
                out.writeLong(ids[i]);
            }
        }
    }
}

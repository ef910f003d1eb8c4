package org.globalfs.multicast.log;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** On the file system of the build, whether it can be written past its page cache or not. */
class SegmentWriterTest {
    private static final int CAPACITY = 8 << 20;

    @TempDir Path folder;

    private Segment segment(long sequence, int capacity) throws IOException {
        Path file = SegmentPreparer.fileOf(folder, sequence);
        byte[] before = new byte[capacity];
        new Random(sequence).nextBytes(before); // a recycled one has old records
        Files.write(file, before);
        FileChannel channel =
                FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE);
        return new Segment(file, channel, new SegmentHeader(sequence, capacity, 1, "c"));
    }

    private static void append(SegmentWriter writer, Segment segment, byte[] bytes)
            throws IOException {
        writer.room(bytes.length).put(bytes);
        segment.end += bytes.length;
    }

    private static byte[] content(Segment segment) throws IOException {
        ByteBuffer into = ByteBuffer.allocate(segment.end - SegmentHeader.BYTES);
        segment.read(into, SegmentHeader.BYTES, into.capacity());
        return into.array();
    }

    private static byte[] random(Random random, int length) {
        byte[] bytes = new byte[length];
        random.nextBytes(bytes);
        return bytes;
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4})
    void what_was_appended_is_in_the_file_in_order(long seed) throws IOException {
        Random random = new Random(seed);
        boolean durable = seed != 4;
        ByteBuffer expected = ByteBuffer.allocate(CAPACITY);
        Segment segment = segment(1, CAPACITY);
        try (segment.channel;
                SegmentWriter writer = new SegmentWriter(segment, durable)) {
            for (int step = 0; step < 600; step++) {
                int bound = random.nextInt(40) == 0 ? 400_000 : random.nextBoolean() ? 200 : 9_000;
                byte[] record = random(random, random.nextInt(bound));
                if (segment.end + record.length > CAPACITY) {
                    break;
                }
                append(writer, segment, record);
                expected.put(record);
                switch (random.nextInt(5)) {
                    case 0, 1 -> {}
                    case 2 -> {
                        writer.write();
                        assertThat(content(segment)).isEqualTo(filled(expected));
                    }
                    default -> {
                        writer.sync();
                        assertThat(content(segment)).isEqualTo(filled(expected));
                        assertThat(writer.durable())
                                .isEqualTo(durable ? segment.end : SegmentHeader.BYTES);
                    }
                }
            }
            writer.sync();
            assertThat(content(segment)).isEqualTo(filled(expected));
        }
    }

    private static byte[] filled(ByteBuffer buffer) {
        byte[] bytes = new byte[buffer.position()];
        buffer.get(0, bytes);
        return bytes;
    }

    @Test
    void a_record_may_be_larger_than_the_buffer() throws IOException {
        byte[] small = random(new Random(7), 100);
        byte[] large = random(new Random(8), 5 << 20);
        Segment segment = segment(1, CAPACITY);
        try (segment.channel;
                SegmentWriter writer = new SegmentWriter(segment, true)) {
            append(writer, segment, small);
            writer.sync();
            append(writer, segment, large);
            writer.sync();
            append(writer, segment, small);
            writer.sync();

            byte[] found = content(segment);
            assertThat(Arrays.copyOfRange(found, 0, 100)).isEqualTo(small);
            assertThat(Arrays.copyOfRange(found, 100, 100 + large.length)).isEqualTo(large);
            assertThat(Arrays.copyOfRange(found, 100 + large.length, found.length))
                    .isEqualTo(small);
        }
    }

    @Test
    void a_file_never_becomes_longer_than_its_capacity() throws IOException {
        int capacity = SegmentHeader.BYTES * 3 + 100;
        Segment segment = segment(1, capacity);
        try (segment.channel;
                SegmentWriter writer = new SegmentWriter(segment, true)) {
            append(writer, segment, new byte[SegmentHeader.BYTES * 2]);
            writer.sync();
            append(writer, segment, random(new Random(9), 100));
            writer.sync();

            assertThat(content(segment)).endsWith(random(new Random(9), 100));
            assertThat(Files.size(segment.file)).isEqualTo(capacity);
        }
    }

    @Test
    void the_next_segment_begins_with_nothing_of_the_last() throws IOException {
        Segment first = segment(1, CAPACITY);
        Segment second = segment(2, CAPACITY);
        try (first.channel;
                second.channel;
                SegmentWriter writer = new SegmentWriter(first, true)) {
            append(writer, first, new byte[] {1, 2, 3});
            writer.sync();

            writer.begin(second);
            append(writer, second, new byte[] {4, 5});
            writer.sync();

            assertThat(content(first)).containsExactly(1, 2, 3);
            assertThat(content(second)).containsExactly(4, 5);
            assertThat(writer.durable()).isEqualTo(second.end);
        }
    }

    @Test
    void what_is_synced_is_not_left_to_the_page_cache() throws IOException {
        Segment segment = segment(1, CAPACITY);
        try (segment.channel;
                SegmentWriter writer = new SegmentWriter(segment, true)) {
            assumeTrue(writer.isDirect(), "this file system has no O_DIRECT");
            append(writer, segment, random(new Random(10), 5_000));
            writer.sync();

            // Behind what was appended there are zeros up to the end of the block, and then what
            // was there before: the page cache would have left both as they were.
            ByteBuffer rest = ByteBuffer.allocate(3 * SegmentHeader.BYTES - segment.end);
            segment.read(rest, segment.end, rest.capacity());
            assertThat(rest.array()).containsOnly(0);
        }
    }
}

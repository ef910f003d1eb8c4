package org.globalfs.multicast.log;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RetiredSegmentsTest {
    @TempDir Path folder;

    /** A crash in between must leave no gap. */
    @Test
    void filesGoInTheOrderOfTheSegmentsWhoeverReadsWhich() throws IOException {
        List<Segment> recycled = new ArrayList<>();
        RetiredSegments retired = new RetiredSegments(recycled::add);
        List<Segment> segments = new ArrayList<>();
        for (int sequence = 1; sequence <= 4; sequence++) {
            segments.add(segment(sequence));
        }
        assertThat(segments.get(1).pin()).isTrue();
        assertThat(segments.get(3).pin()).isTrue();
        segments.forEach(retired::add);
        assertThat(recycled).containsExactlyElementsOf(segments.subList(0, 1));
        assertThat(segments.get(1).pin()).as("no new readers").isFalse();
        segments.get(3).unpin();
        assertThat(recycled).hasSize(1);
        segments.get(1).unpin();
        assertThat(recycled).containsExactlyElementsOf(segments);
        for (Segment segment : segments) {
            segment.channel.close();
        }
    }

    private Segment segment(int sequence) throws IOException {
        Path file = SegmentPreparer.fileOf(folder, sequence);
        FileChannel channel =
                FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        return new Segment(file, channel, new SegmentHeader(sequence, 1 << 20, 7, "test"));
    }
}

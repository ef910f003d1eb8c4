package org.globalfs.multicast.log;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class SegmentPreparerTest {
    private static final int CAPACITY = 1 << 20;

    @TempDir Path folder;

    /** By names that a power cut may bring back, a segment must never have another's header. */
    @Test
    void aTrimmedSegmentHasItsNewNameForGoodBeforeItsNewHeader() throws IOException {
        List<String> synced = new CopyOnWriteArrayList<>();
        SegmentPreparer preparer =
                new SegmentPreparer(
                        new LogOptions(folder, "test", 7, true, CAPACITY, 0),
                        f -> synced.add(segments()));
        Segment trimmed = preparer.take(1, CAPACITY, CAPACITY);
        preparer.recycle(trimmed);
        preparer.want(2, CAPACITY);
        await().until(() -> synced.contains("segment-000000000002.log has 2"));
        assertThat(synced)
                .containsExactly(
                        "segment-000000000001.log has 1",
                        "next-2.tmp has 1",
                        "segment-000000000002.log has 2");
        preparer.close();
    }

    /** A full disk needs its space at once. */
    @Test
    void aTrimmedSegmentWhoseNewNameCannotBeSyncedIsGivenBack() throws IOException {
        AtomicInteger syncs = new AtomicInteger();
        SegmentPreparer preparer =
                new SegmentPreparer(
                        new LogOptions(folder, "test", 7, true, CAPACITY, 0),
                        f -> {
                            if (syncs.incrementAndGet() == 2) {
                                throw new IOException("no sync");
                            }
                        });
        preparer.recycle(preparer.take(1, CAPACITY, CAPACITY));
        preparer.want(2, CAPACITY);
        await().untilAsserted(() -> {
            assertThat(syncs).hasValue(2);
            assertThat(folder).isEmptyDirectory();
        });
        preparer.close();
    }

    /** Or the next start would miss one between others, and call the log damaged. */
    @Test
    void noTrimmedSegmentGoesBeforeAnOlderOneThatCannot() throws IOException {
        SegmentPreparer preparer =
                new SegmentPreparer(new LogOptions(folder, "test", 7, true, CAPACITY, 0));
        preparer.keepSpares(false);
        Segment first = preparer.take(1, CAPACITY, CAPACITY);
        Segment second = preparer.take(2, CAPACITY, CAPACITY);
        Segment third = preparer.take(3, CAPACITY, CAPACITY);
        Files.delete(first.file);
        Path inTheWay = Files.createFile(Files.createDirectory(first.file).resolve("file"));
        preparer.recycle(first);
        preparer.recycle(second);
        preparer.want(4, CAPACITY);
        Path afterwards = SegmentPreparer.fileOf(folder, 4);
        await().until(() -> Files.exists(afterwards));
        assertThat(second.file).exists();

        Files.delete(inTheWay);
        preparer.recycle(third);
        preparer.close();
        assertThat(first.file).doesNotExist();
        assertThat(second.file).doesNotExist();
        assertThat(third.file).doesNotExist();
    }

    @Test
    void withoutAThreadTheWriterMakesItsOwnSegmentAndTrimmedOnesGoAllTheSame() throws IOException {
        SegmentPreparer preparer =
                new SegmentPreparer(
                        new LogOptions(folder, "test", 7, true, CAPACITY, 0),
                        f -> {},
                        task -> {
                            throw new OutOfMemoryError("unable to create native thread");
                        });
        preparer.want(1, CAPACITY);
        Segment first = preparer.take(1, CAPACITY, CAPACITY);
        preparer.want(2, CAPACITY);
        Segment second = preparer.take(2, CAPACITY, CAPACITY);
        preparer.recycle(first);
        preparer.keepSpares(false);
        preparer.recycle(second);
        assertThat(first.channel.isOpen()).isFalse();
        assertThat(folder).isEmptyDirectory();
        preparer.close();
    }

    private String segments() throws IOException {
        StringBuilder all = new StringBuilder();
        try (Stream<Path> files = Files.list(folder)) {
            for (Path file : files.toList()) {
                all.append(file.getFileName()).append(" has ").append(sequence(file));
            }
        }
        return all.toString();
    }

    private static long sequence(Path file) throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
            ByteBuffer block = ByteBuffer.allocate(SegmentHeader.BYTES);
            channel.read(block, 0);
            return SegmentHeader.decode(block.flip(), file).sequence();
        }
    }
}

package org.globalfs.jepsen.fault;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Which bytes of a server are damaged. */
class ServerFilesTest {
    private static final Path GOLDEN_LOG =
            Path.of("..", "multicast", "src", "test", "resources", "golden", "multicast-log-2.bin");
    private static final int HEADER_BYTES = 4096;

    @TempDir private Path data;
    private final Random random = new Random(1);

    private Path file(String name, byte[] content) throws IOException {
        Path file = data.resolve(name);
        Files.createDirectories(file.getParent());
        return Files.write(file, content);
    }

    @Test
    void recordsOfALogAreThoseThatAreKnownToBeOnDisk() throws IOException {
        byte[] golden = Files.readAllBytes(GOLDEN_LOG);
        Path file = file("replica-3/log/segment-000000000001.log", golden);
        List<ServerFiles.Part> all = ServerFiles.LOG.partsOfOne(data, random);
        assertThat(all).isNotEmpty().allMatch(part -> part.file().equals(file));
        assertThat(all.getFirst().from()).isEqualTo(HEADER_BYTES);

        byte[] damaged = golden.clone();
        damaged[all.getLast().from() + 1] ^= 1;
        Files.write(file, damaged);
        assertThat(ServerFiles.LOG.partsOfOne(data, random))
                .hasSizeLessThan(all.size())
                .allMatch(part -> part.to() <= all.getLast().from());
    }

    /** As docs/formats/chunk-segment.md has them. */
    private static void chunk(ByteBuffer segment, int type, long block, int recordBytes) {
        int at = segment.position();
        segment.putInt(0x47465343).put((byte) 1).put((byte) type).putShort((short) 0);
        segment.putLong(0).putLong(block).putInt(1000).putInt(recordBytes);
        segment.position(at + recordBytes);
    }

    @Test
    void chunksOfBlocksThatAreSparedAreNot() throws IOException {
        ByteBuffer segment = ByteBuffer.allocate(64 << 10).position(HEADER_BYTES);
        chunk(segment, 1, 7, 1088);
        chunk(segment, 2, 8, 1088);
        chunk(segment, 1, 9, 2048);
        file("storage/us-west-a-1/segment-1.chunks", segment.array());
        file("storage/us-west-a-1/other", new byte[100]);
        List<ServerFiles.Part> all = ServerFiles.CHUNKS.partsOfOne(data, random);
        assertThat(all).extracting(ServerFiles.Part::block).containsExactly("07", "09");
        assertThat(all.getLast().from()).isEqualTo(HEADER_BYTES + 2 * 1088);
        assertThat(ServerFiles.CHUNKS.any(data, random, Set.of("09"))).contains(all.getFirst());
        assertThat(ServerFiles.CHUNKS.any(data, random, Set.of("07", "09"))).isEmpty();
        assertThat(ServerFiles.LOG.areIn(data, random)).isFalse();
        assertThat(ServerFiles.STATE.areIn(data.resolve("none"), random)).isFalse();
    }

    @Test
    void changesAreWithinThePartAndCanBeUndone() throws IOException {
        byte[] content = new byte[10_000];
        new Random(2).nextBytes(content);
        Path file = file("replica-3/p1/000007.sst", content);
        for (int i = 0; i < 200; i++) {
            ServerFiles.Part part = new ServerFiles.Part(file, 100, 100 + 1 + i * 40, "");
            ChangedBytes changed = ChangedBytes.in(part, random);
            byte[] now = Files.readAllBytes(file);
            assertThat(now).hasSameSizeAs(content).isNotEqualTo(content);
            for (int at = 0; at < now.length; at++) {
                boolean within = at >= part.from() && at < part.to();
                assertThat(now[at] == content[at] || within).as("byte %s", at).isTrue();
            }
            changed.undo();
            assertThat(file).hasBinaryContent(content);
        }
    }

    @Test
    void whatWasWrittenSinceStays() throws IOException {
        Path file = file("replica-3/p1/CURRENT", new byte[] {1, 2, 3});
        ChangedBytes changed = ChangedBytes.in(new ServerFiles.Part(file, 0, 3, ""), random);
        Files.write(file, new byte[] {9, 9, 9, 9});
        changed.undo();
        assertThat(file).hasBinaryContent(new byte[] {9, 9, 9, 9});
        Files.delete(file);
        changed.undo();
        assertThat(file).doesNotExist();
    }
}

package org.globalfs.jepsen.fault;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * A file that ends before it should.
 *
 * @param at its size now
 * @param gone what came behind that, as far as it meant something
 * @param blocks of which a chunk was there
 */
record CutFile(Path file, long at, byte[] gone, Set<String> blocks) {
    /** So much at most is lost of one file, for it is all made anew. */
    private static final int MOST_BYTES = 16 << 20;

    /**
     * Cuts a file within one of its parts.
     *
     * @param parts all of the file, in their order; at least one
     */
    static CutFile in(List<ServerFiles.Part> parts, Random random) throws IOException {
        int end = parts.getLast().to();
        List<ServerFiles.Part> last =
                parts.stream().filter(part -> end - part.from() <= MOST_BYTES).toList();
        ServerFiles.Part cut =
                last.isEmpty() ? parts.getLast() : last.get(random.nextInt(last.size()));
        int at = cut.from() + random.nextInt(cut.to() - cut.from());
        ByteBuffer gone = ByteBuffer.allocate(end - at);
        try (FileChannel channel =
                FileChannel.open(cut.file(), StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            while (gone.hasRemaining() && channel.read(gone, at + gone.position()) >= 0) {
                // a short read goes on
            }
            channel.truncate(at);
        }
        Set<String> blocks =
                parts.stream()
                        .filter(part -> part.to() > at)
                        .map(ServerFiles.Part::block)
                        .collect(Collectors.toUnmodifiableSet());
        return new CutFile(cut.file(), at, gone.array(), blocks);
    }

    /** Puts it back, unless somebody wrote there since. */
    void undo() throws IOException {
        if (!Files.exists(file) || Files.size(file) != at) {
            return;
        }
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
            ByteBuffer bytes = ByteBuffer.wrap(gone);
            while (bytes.hasRemaining()) {
                channel.write(bytes, at + bytes.position());
            }
        }
    }

    @Override
    public String toString() {
        return file + " ends at " + at + ", without chunks of " + blocks.size() + " blocks";
    }
}

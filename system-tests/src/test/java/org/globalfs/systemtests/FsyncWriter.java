package org.globalfs.systemtests;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/**
 * A program that writes files of many sizes, each with fsync, and notes each acknowledged one, with
 * its checksum, in a file outside the file system; runs until it fails, is killed, or a file named
 * {@code stop} is beside its notes.
 */
final class FsyncWriter {
    private static final String PROGRAM =
            """
            import hashlib, os, random, sys
            folder, journal, seed = sys.argv[1], sys.argv[2], int(sys.argv[3])
            random.seed(seed)
            out = os.open(journal, os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o644)
            for i in range(100000):
                if os.path.exists(os.path.join(os.path.dirname(journal), 'stop')):
                    break
                name = '%s/f%d-%05d' % (folder, seed, i)
                body = random.randbytes(random.choice([0, 1, 100, 4096, 16384, 16385, 70000, 1 << 20, 5 << 20]))
                fd = os.open(name, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644)
                view = memoryview(body)
                while view:
                    view = view[os.write(fd, view):]
                os.fsync(fd)
                os.write(out, ('%s %s\\n' % (hashlib.sha256(body).hexdigest(), os.path.basename(name))).encode())
                os.close(fd)
            """;

    private final Path program;
    private final Path scratch;

    FsyncWriter(Path scratch) throws IOException {
        this.scratch = scratch;
        this.program = Files.writeString(scratch.resolve("writer.py"), PROGRAM);
    }

    /** Runs it to its end. */
    Shell.Outcome run(Duration deadline, Path folder, Path journal, int seed) {
        return Shell.run(
                deadline,
                scratch,
                List.of(
                        "python3",
                        program.toString(),
                        folder.toString(),
                        journal.toString(),
                        Integer.toString(seed)));
    }

    void stop() throws IOException {
        Files.writeString(scratch.resolve("stop"), "");
    }

    /** How many files were acknowledged so far. */
    static int acknowledged(Path journal) {
        try {
            return Files.exists(journal) ? Files.readAllLines(journal).size() : 0;
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    /** Fails unless every acknowledged file is whole in the folder. */
    static void check(Path folder, Path journal) {
        Shell.bash(
                        Duration.ofMinutes(3),
                        folder,
                        "sha256sum --quiet -c '" + journal + "' && echo whole")
                .orFail();
    }
}

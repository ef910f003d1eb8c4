package org.globalfs.cli.cluster;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Optional;

/**
 * The file that names a running process ({@code NAME.pid}), and beside it the sign that the process
 * serves ({@code NAME.ready}).
 */
public record RunFile(Path path) {

    /** Called by the launched process, or for it by its launcher. */
    public void begin(long pid) throws IOException {
        Files.deleteIfExists(readyPath());
        Path draft = path.resolveSibling(path.getFileName() + "." + pid);
        Files.writeString(draft, pid + "\n");
        Files.move(draft, path, StandardCopyOption.ATOMIC_MOVE);
    }

    public void ready() throws IOException {
        Files.writeString(readyPath(), "");
    }

    public boolean isReady() {
        return Files.exists(readyPath());
    }

    public void end() throws IOException {
        Files.deleteIfExists(readyPath());
        Files.deleteIfExists(path);
    }

    /** The process, if it lives and is one of ours: a pid may have gone to a stranger since. */
    public Optional<ProcessHandle> process() throws IOException {
        long pid;
        try {
            pid = Long.parseLong(Files.readString(path).trim());
        } catch (NoSuchFileException e) {
            return Optional.empty();
        } catch (NumberFormatException e) {
            throw new IOException(path + " does not hold a process id: delete it", e);
        }
        return ProcessHandle.of(pid).filter(ProcessHandle::isAlive).filter(RunFile::isOurs);
    }

    private static boolean isOurs(ProcessHandle process) {
        Path proc = Path.of("/proc", Long.toString(process.pid()));
        try {
            // A zombie has an empty command line: it is as good as gone.
            return Files.readString(proc.resolve("cmdline"), StandardCharsets.ISO_8859_1)
                    .contains("globalfs");
        } catch (IOException e) {
            return false;
        }
    }

    private Path readyPath() {
        String name = path.getFileName().toString();
        String stem = name.endsWith(".pid") ? name.substring(0, name.length() - 4) : name;
        return path.resolveSibling(stem + ".ready");
    }
}

package org.globalfs.cli.cluster;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import org.globalfs.cli.ExitCode;
import org.globalfs.cli.Failure;
import org.globalfs.protocol.Folders;

/**
 * The file that names a running process ({@code NAME.pid}), and beside it the sign that the process
 * serves ({@code NAME.ready}) and what its launcher holds while it starts it ({@code NAME.lock}).
 */
public record RunFile(Path path) {
    /** With which a process is told its run file. */
    public static final String OPTION = "--run-file";

    /** As far as the umask lets them: other users' commands look for the process, too. */
    private static final Set<PosixFilePermission> ANYBODY_READS =
            PosixFilePermissions.fromString("rw-r--r--");

    /**
     * Called by the launched process, or for it by its launcher.
     *
     * @throws Failure it is the file of another process, which runs
     */
    public void begin(long pid) throws IOException, Failure {
        Optional<ProcessHandle> other = process().filter(process -> process.pid() != pid);
        if (other.isPresent()) {
            throw runs(other.get());
        }
        Files.deleteIfExists(beside(".ready"));
        Path draft = newDraft();
        try {
            Files.writeString(draft, pid + "\n");
            Folders.sync(draft);
            Files.move(draft, path, StandardCopyOption.ATOMIC_MOVE);
        } catch (IOException e) {
            Files.deleteIfExists(draft);
            throw e;
        }
    }

    /** Of the caller alone: the process and its launcher may begin at the same time. */
    private Path newDraft() throws IOException {
        Path folder = Objects.requireNonNull(path.toAbsolutePath().getParent());
        return Files.createTempFile(
                folder,
                path.getFileName() + ".",
                ".draft",
                PosixFilePermissions.asFileAttribute(ANYBODY_READS));
    }

    private Failure runs(ProcessHandle process) {
        return new Failure(
                ExitCode.ALREADY_RUNNING,
                path
                        + " is the run file of process "
                        + process.pid()
                        + ", which runs: stop that first, or name another file");
    }

    /**
     * Keeps other launchers off this file until it is closed: of two that see no process, both
     * would start one. The file that it locks stays: two of one name would exclude nobody.
     *
     * @throws Failure another is at it, or the process runs
     */
    FileChannel reserve() throws IOException, Failure {
        FileChannel channel =
                FileChannel.open(
                        beside(".lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        try {
            if (!lock(channel)) {
                throw new Failure(
                        ExitCode.ALREADY_RUNNING,
                        "another command is just starting the process of " + path);
            }
            Optional<ProcessHandle> process = process();
            if (process.isPresent()) {
                throw runs(process.get());
            }
            return channel;
        } catch (IOException | Failure e) {
            channel.close();
            throw e;
        }
    }

    private static boolean lock(FileChannel channel) throws IOException {
        try {
            return channel.tryLock() != null;
        } catch (OverlappingFileLockException e) {
            return false;
        }
    }

    public void ready() throws IOException {
        Files.writeString(beside(".ready"), "");
    }

    public boolean isReady() {
        return Files.exists(beside(".ready"));
    }

    public void end() throws IOException {
        Files.deleteIfExists(beside(".ready"));
        Files.deleteIfExists(path);
    }

    /** Takes away what a process left that has ended, unless another has begun since. */
    void endOf(long pid) throws IOException {
        if (pid().orElse(-1) == pid) {
            end();
        }
    }

    /**
     * The process, if it lives and was started with this file: a pid of a process that was killed
     * may have gone to another one since, even to one of this program.
     */
    public Optional<ProcessHandle> process() throws IOException {
        OptionalLong pid = pid();
        return pid.isEmpty()
                ? Optional.empty()
                : ProcessHandle.of(pid.getAsLong())
                        .filter(ProcessHandle::isAlive)
                        .filter(this::isOurs);
    }

    /** Empty: no process began. */
    private OptionalLong pid() throws IOException {
        try {
            // A power cut may have left it empty, or zeros in it; nothing of before it lives.
            String text = Files.readString(path).replace("\0", "").trim();
            return text.isEmpty() ? OptionalLong.empty() : OptionalLong.of(Long.parseLong(text));
        } catch (NoSuchFileException e) {
            return OptionalLong.empty();
        } catch (NumberFormatException e) {
            throw new IOException(path + " does not hold a process id: delete it", e);
        }
    }

    private boolean isOurs(ProcessHandle process) {
        Path proc = Path.of("/proc", Long.toString(process.pid()));
        try {
            // A zombie has an empty command line: it is as good as gone.
            String text =
                    new String(Files.readAllBytes(proc.resolve("cmdline")), StandardCharsets.UTF_8);
            List<String> line = List.of(text.replace(OPTION + "=", OPTION + "\0").split("\0", -1));
            int option = line.indexOf(OPTION);
            return option >= 0 && option + 1 < line.size() && isThis(Path.of(line.get(option + 1)));
        } catch (IOException | InvalidPathException e) {
            return false;
        }
    }

    /** Both may have come to the folder by another way. */
    private boolean isThis(Path other) throws IOException {
        Path folder = path.toAbsolutePath().getParent();
        Path theirs = other.toAbsolutePath().getParent();
        return folder != null
                && theirs != null
                && path.getFileName().equals(other.getFileName())
                && Files.isSameFile(folder, theirs);
    }

    private Path beside(String ending) {
        String name = path.getFileName().toString();
        String stem = name.endsWith(".pid") ? name.substring(0, name.length() - 4) : name;
        return path.resolveSibling(stem + ending);
    }
}

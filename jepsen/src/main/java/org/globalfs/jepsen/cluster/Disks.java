package org.globalfs.jepsen.cluster;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.globalfs.protocol.Folders;

/**
 * An ext4 file system for the data of each server and cache, in a file of its own: one whose power
 * can be cut, that can stand still, and be filled.
 */
public final class Disks implements AutoCloseable {
    private static final Duration LIMIT = Duration.ofMinutes(1);
    private static final String FILLER = "filler";

    /** What fallocate(1) does not get: the file system's records of it take room too. */
    private static final long FOR_METADATA = 8 << 20;

    /** Room for an hour of workloads; sparse. */
    private static final String SIZE = "6G";

    private final Path images;
    private final Path poweroff;
    private final List<String> servers;
    private final Map<String, Path> mounted = new LinkedHashMap<>();

    /**
     * Nothing is made before {@link #mount}.
     *
     * @param images where the file systems are, as files
     * @param poweroff the program of this name
     */
    public Disks(Path images, Path poweroff, List<String> servers) {
        this.images = images;
        this.poweroff = poweroff;
        this.servers = servers;
    }

    /** Why this machine cannot have them; empty: it can. */
    public static Optional<String> missing() {
        if (!"root".equals(System.getProperty("user.name"))) {
            return Optional.of("only root mounts file systems");
        }
        if (!Files.exists(Path.of("/dev/loop-control"))) {
            return Optional.of("there is no /dev/loop-control");
        }
        return Command.missing("mkfs.ext4", "mount", "umount", "fsfreeze");
    }

    /** Makes them, each in the folder of its server's name below this one. */
    synchronized void mount(Path data) throws IOException {
        Files.createDirectories(images);
        for (String server : servers) {
            Path folder = Files.createDirectories(data.resolve(server));
            run("truncate", "-s", SIZE, image(server).toString());
            run("mkfs.ext4", "-q", "-m", "0", image(server).toString());
            mount(server, folder);
            Files.delete(folder.resolve("lost+found"));
        }
    }

    private Path image(String server) {
        return images.resolve(server + ".ext4");
    }

    private void mount(String server, Path folder) throws IOException {
        run("mount", "-o", "loop", image(server).toString(), folder.toString());
        mounted.put(server, folder);
    }

    private static void run(String... command) throws IOException {
        Command.run(LIMIT, Path.of("/"), Map.of(), List.of(command));
    }

    private Path folder(String server) {
        Path folder = mounted.get(server);
        if (folder == null) {
            throw new IllegalStateException("no disk of " + server + " is mounted");
        }
        return folder;
    }

    /** What was not synced is lost; nothing can be read or written until {@link #restorePower}. */
    public synchronized void cutPower(String server) throws IOException {
        run(poweroff.toString(), folder(server).toString());
    }

    /** The server's processes have to be dead. */
    public synchronized void restorePower(String server) throws IOException {
        Path folder = folder(server);
        run("umount", folder.toString());
        mounted.remove(server);
        mount(server, folder);
    }

    /** Writes and syncs wait until {@link #thaw}. */
    public synchronized void freeze(String server) throws IOException {
        run("fsfreeze", "--freeze", folder(server).toString());
    }

    /** Ends {@link #freeze}. */
    public synchronized void thaw(String server) throws IOException {
        run("fsfreeze", "--unfreeze", folder(server).toString());
    }

    /** No more than this is free until {@link #free}. */
    public synchronized void fill(String server, long leftBytes) throws IOException {
        Path filler = folder(server).resolve(FILLER);
        long free = Files.getFileStore(folder(server)).getUsableSpace();
        long bytes = Math.max(1, free - Math.max(leftBytes, FOR_METADATA));
        run("fallocate", "-l", Long.toString(bytes), filler.toString());
        if (leftBytes < FOR_METADATA) {
            String rest = "head -c $1 /dev/zero >> \"$0\" 2> /dev/null || true";
            long restBytes = FOR_METADATA - leftBytes;
            run("bash", "-c", rest, filler.toString(), Long.toString(restBytes));
        }
    }

    /** Ends {@link #fill}, for good: a power cut does not bring back what took the room. */
    public synchronized void free(String server) throws IOException {
        Path folder = folder(server);
        Files.deleteIfExists(folder.resolve(FILLER));
        Folders.sync(folder);
    }

    /** Takes them away with all that is on them. */
    @Override
    public synchronized void close() throws IOException {
        for (Path folder : mounted.values()) {
            // A frozen one would be waited for.
            String script = "fsfreeze --unfreeze '%1$s' 2> /dev/null; umount '%1$s'";
            run("bash", "-c", script.formatted(folder));
        }
        mounted.clear();
        TestedCluster.remove(images);
    }
}

package org.globalfs.client.fuse;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Scanner;
import java.util.concurrent.TimeUnit;
import org.globalfs.client.jnr.JnrMount;
import org.globalfs.client.vfs.FileSystem;
import org.globalfs.client.vfs.FsException;
import org.globalfs.client.vfs.KernelCache;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Mounts a {@link MemoryFileSystem} until its input ends; a program of its own, because a JVM must
 * not use its own mount. Arguments: mountpoint, time-out of cached names and attributes in ms,
 * requests' time-out in ms, then any of: direct, locks, trace, explicit, jnr, threads=N, readers=N.
 * Commands on its input: {@code counts}, {@code close}.
 */
public final class MemoryMount {
    private static final Logger log = LoggerFactory.getLogger(MemoryMount.class);

    private MemoryMount() {}

    public static void main(String[] arguments) throws Exception {
        long cacheNs = TimeUnit.MILLISECONDS.toNanos(Long.parseLong(arguments[1]));
        MountOptions options =
                MountOptions.defaults()
                        .withRequestTimeout(Duration.ofMillis(Long.parseLong(arguments[2])));
        boolean directIo = false;
        boolean locks = false;
        boolean jnr = false;
        for (int i = 3; i < arguments.length; i++) {
            switch (arguments[i]) {
                case "direct" -> directIo = true;
                case "locks" -> locks = true;
                case "jnr" -> jnr = true;
                case "trace" -> options = options.withTrace(true);
                case "noexec" -> options = options.withAllowExec(false);
                case "explicit" -> options = options.withExplicitInvalidation(true);
                default -> options = counted(options, arguments[i]);
            }
        }
        MemoryFileSystem fileSystem = new MemoryFileSystem(cacheNs, directIo, locks);
        Path mountpoint = Path.of(arguments[0]);
        try (Mount mount =
                jnr
                        ? JnrMount.mount(fileSystem, mountpoint, options)
                        : FuseMount.mount(fileSystem, mountpoint, options)) {
            System.out.println("mounted " + mount.mountpoint());
            Thread commands = Thread.ofPlatform().daemon().start(() -> obey(mount, fileSystem));
            mount.await();
            System.out.println("unmounted " + fileSystem.isClosed());
            log.debug("commands end: {}", commands.isAlive());
        } catch (MountException e) {
            System.out.println("refused " + e.getMessage());
            System.exit(3);
        }
    }

    private static MountOptions counted(MountOptions options, String argument) {
        String[] parts = argument.split("=", -1);
        int count = Integer.parseInt(parts[1]);
        return switch (parts[0]) {
            case "threads" -> options.withMaxThreads(count);
            case "readers" -> options.withReaders(count);
            default -> throw new IllegalArgumentException(argument);
        };
    }

    private static void obey(Mount mount, MemoryFileSystem fileSystem) {
        Scanner input = new Scanner(System.in, StandardCharsets.UTF_8);
        while (input.hasNextLine()) {
            String[] words = input.nextLine().split(" ", -1);
            switch (words[0]) {
                case "counts" -> {
                    for (OperationStatistics.Count count : mount.statistics().counts()) {
                        System.out.println(
                                "count "
                                        + count.operation()
                                        + " "
                                        + count.requests()
                                        + " "
                                        + count.errors());
                    }
                    System.out.println("count TIMEOUTS " + mount.statistics().timeouts() + " 0");
                    System.out.println(
                            "count INTERRUPTS " + mount.statistics().interrupts() + " 0");
                    System.out.println("count INODES " + fileSystem.inodeCount() + " 0");
                    System.out.println("count SYNCS " + fileSystem.syncCount() + " 0");
                    System.out.println("count HANDLES " + fileSystem.handleCount() + " 0");
                    System.out.println("end");
                }
                case "steal", "change" -> change(fileSystem, words);
                case "forget" -> forget(fileSystem, words[1]);
                case "lengthen" -> lengthen(fileSystem, words[1], Long.parseLong(words[2]));
                case "expire" -> expire(fileSystem, words[1], words[2]);
                default -> mount.close();
            }
        }
        mount.close();
    }

    /**
     * {@code change NAME TEXT}: makes, or without text removes, a file as another client would;
     * {@code steal}: and the kernel is not told.
     */
    private static void change(MemoryFileSystem fileSystem, String[] words) {
        try {
            long ino = fileSystem.changeBehindTheKernel(words[1], words[2]);
            boolean told = true;
            if (words[0].equals("change")) {
                fileSystem
                        .kernel()
                        .invalidateEntry(
                                FileSystem.ROOT, words[1].getBytes(StandardCharsets.UTF_8));
                fileSystem.kernel().invalidateInode(ino, 0, 0);
                fileSystem.kernel().invalidateInode(FileSystem.ROOT, -1, 0);
                told = fileSystem.kernel().await(List.of(ino, FileSystem.ROOT), 2_000);
            }
            System.out.println("changed " + told);
        } catch (FsException | InterruptedException e) {
            System.out.println("changed " + e);
        }
    }

    /** {@code forget NAME}: all names, and the attributes of this file, at once. */
    private static void forget(MemoryFileSystem fileSystem, String name) {
        try {
            fileSystem.kernel().forgetNow(List.of(fileSystem.inodeOf(name)), 50_000_000);
            System.out.println("forgot");
        } catch (FsException e) {
            System.out.println("forgot " + e);
        }
    }

    /** {@code lengthen NAME SIZE}: as after an invalidation, when an answer is not believed. */
    private static void lengthen(MemoryFileSystem fileSystem, String name, long size) {
        try {
            long ino = fileSystem.inodeOf(name);
            KernelCache kernel = fileSystem.kernel();
            kernel.invalidateInode(ino, -1, 0);
            boolean sent = kernel.awaitInode(ino, 2_000);
            KernelCache.Doubt doubt = Objects.requireNonNull(kernel.doubt(ino));
            System.out.println("lengthened " + (sent && doubt.lengthen(size)));
        } catch (FsException | InterruptedException e) {
            System.out.println("lengthened " + e);
        }
    }

    /** {@code expire DIRECTORY NAME}: whether the name is dropped within a second. */
    private static void expire(MemoryFileSystem fileSystem, String directory, String name) {
        try {
            long parent = fileSystem.inodeOf(directory);
            fileSystem.kernel().invalidateEntry(parent, name.getBytes(StandardCharsets.UTF_8));
            System.out.println("expired " + fileSystem.kernel().await(List.of(), 1_000));
        } catch (FsException | InterruptedException e) {
            System.out.println("expired " + e);
        }
    }
}

package org.globalfs.client.fuse;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Scanner;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Mounts a {@link MemoryFileSystem} until its input ends; a program of its own, because a JVM must
 * not use its own mount. Arguments: mountpoint, time-out of cached names and attributes in ms,
 * requests' time-out in ms, then any of: direct, trace, explicit, threads=N. Commands on its input:
 * {@code counts}, {@code close}.
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
        for (int i = 3; i < arguments.length; i++) {
            switch (arguments[i]) {
                case "direct" -> directIo = true;
                case "trace" -> options = options.withTrace(true);
                case "explicit" -> options = options.withExplicitInvalidation(true);
                default ->
                        options =
                                options.withMaxThreads(
                                        Integer.parseInt(
                                                arguments[i].substring("threads=".length())));
            }
        }
        MemoryFileSystem fileSystem = new MemoryFileSystem(cacheNs, directIo);
        try (FuseMount mount = FuseMount.mount(fileSystem, Path.of(arguments[0]), options)) {
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

    private static void obey(FuseMount mount, MemoryFileSystem fileSystem) {
        Scanner input = new Scanner(System.in, StandardCharsets.UTF_8);
        while (input.hasNextLine()) {
            switch (input.nextLine()) {
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
                    System.out.println("count HANDLES " + fileSystem.handleCount() + " 0");
                    System.out.println("end");
                }
                default -> mount.close();
            }
        }
        mount.close();
    }
}

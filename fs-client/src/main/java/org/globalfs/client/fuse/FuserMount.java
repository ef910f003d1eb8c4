package org.globalfs.client.fuse;

import java.io.ByteArrayOutputStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.globalfs.protocol.Errno;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * libfuse's set-uid program {@code fusermount3}: mounts for users and sends the device's descriptor
 * back through a socket.
 */
final class FuserMount {
    private static final Logger log = LoggerFactory.getLogger(FuserMount.class);

    /** The number that the socket has in the started program. */
    private static final int SOCKET_FD = 3;

    private record Outcome(int exitCode, String errors) {}

    private FuserMount() {}

    static FuseDevice mount(Path mountpoint, MountOptions options) throws MountException {
        String program = check();
        List<String> data = new ArrayList<>();
        data.add("fsname=" + options.source());
        data.add("subtype=globalfs");
        data.add("nosuid");
        data.add("nodev");
        if (!options.allowExec()) {
            data.add("noexec");
        }
        if (options.readOnly()) {
            data.add("ro");
        }
        data.addAll(Mounter.commonOptions(options));
        int[] sockets = Libc.socketPair();
        if (sockets[0] < 0) {
            throw new MountException("cannot make a socket pair: " + Errno.of(-sockets[0]));
        }
        try {
            Outcome outcome =
                    run(
                            new String[] {
                                program, "-o", String.join(",", data), "--", mountpoint.toString()
                            },
                            sockets[1]);
            if (outcome.exitCode != 0) {
                throw new MountException("cannot mount on " + mountpoint + ": " + outcome.errors);
            }
            int fd = Libc.receiveDescriptor(sockets[0]);
            if (fd < 0) {
                throw new MountException("fusermount3 sent no descriptor: " + Errno.of(-fd));
            }
            return new FuseDevice(fd);
        } finally {
            Libc.close(sockets[0]);
            Libc.close(sockets[1]);
        }
    }

    /** The program's path. */
    static String check() throws MountException {
        String program = program();
        if (program == null) {
            throw new MountException(
                    "mounting as a user needs fusermount3: install it with 'apt-get install fuse3', or mount as root");
        }
        return program;
    }

    static boolean unmount(Path mountpoint, boolean lazily) {
        String program = program();
        if (program == null) {
            return false;
        }
        String[] command =
                lazily
                        ? new String[] {program, "-u", "-z", "--", mountpoint.toString()}
                        : new String[] {program, "-u", "--", mountpoint.toString()};
        try {
            Outcome outcome = run(command, -1);
            if (outcome.exitCode != 0) {
                log.info("{}", outcome.errors);
            }
            return outcome.exitCode == 0;
        } catch (MountException e) {
            log.warn("{}", e.getMessage());
            return false;
        }
    }

    private static @Nullable String program() {
        String path = System.getenv().getOrDefault("PATH", "") + ":/usr/bin:/bin:/usr/local/bin";
        for (String directory : path.split(":", -1)) {
            Path candidate = Path.of(directory, "fusermount3");
            if (!directory.isEmpty() && Files.isExecutable(candidate)) {
                return candidate.toString();
            }
        }
        return null;
    }

    private static Outcome run(String[] command, int socket) throws MountException {
        int[] errors = Libc.pipe();
        if (errors[0] < 0) {
            throw new MountException("cannot make a pipe: " + Errno.of(-errors[0]));
        }
        int pid;
        String text;
        try {
            pid = Libc.spawn(command, environment(socket >= 0), socket, errors[1]);
        } finally {
            Libc.close(errors[1]);
        }
        try {
            if (pid < 0) {
                throw new MountException("cannot start " + command[0] + ": " + Errno.of(-pid));
            }
            text = readAll(errors[0]);
        } finally {
            Libc.close(errors[0]);
        }
        return new Outcome(Libc.waitFor(pid), text.trim());
    }

    private static String[] environment(boolean withSocket) {
        List<String> result = new ArrayList<>();
        for (Map.Entry<String, String> variable : System.getenv().entrySet()) {
            if (!variable.getKey().equals("_FUSE_COMMFD")) {
                result.add(variable.getKey() + "=" + variable.getValue());
            }
        }
        if (withSocket) {
            result.add("_FUSE_COMMFD=" + SOCKET_FD);
        }
        return result.toArray(String[]::new);
    }

    private static String readAll(int fd) {
        MemorySegment buffer = Libc.pages(4096);
        MemorySegment state = Libc.newState();
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        while (true) {
            long count = Libc.read(fd, buffer.address(), buffer.byteSize(), state);
            if (count <= 0) {
                return bytes.toString(StandardCharsets.UTF_8);
            }
            bytes.writeBytes(buffer.asSlice(0, count).toArray(ValueLayout.JAVA_BYTE));
        }
    }
}

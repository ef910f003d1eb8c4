package org.globalfs.client.fuse;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * A {@link MemoryMount} in a process of its own, and programs run in it; leaves neither mount nor
 * process behind.
 */
final class MountedProcess implements AutoCloseable {
    static final int READY_SECONDS = 180;

    /** Times are given for a quiet machine; a busy one gets so much more. */
    private static final int PATIENCE = 5;

    /** What a program printed and how it ended. */
    record Outcome(int exitCode, String output) {}

    private final Path mountpoint;
    private final Process process;
    private final BlockingQueue<String> lines = new LinkedBlockingQueue<>();

    private MountedProcess(Path mountpoint, Process process) {
        this.mountpoint = mountpoint;
        this.process = process;
        Thread.ofPlatform().daemon().start(this::collect);
    }

    static boolean possible() {
        return Files.exists(Path.of("/dev/fuse"))
                && (Mounter.privileged() || Files.exists(Path.of("/usr/bin/fusermount3")));
    }

    /** Whether libfuse 2 is there, for the binding that needs it. */
    static boolean hasLibFuse() throws Exception {
        return run(10, "sh", "-c", "PATH=$PATH:/sbin:/usr/sbin; ldconfig -p | grep -q libfuse.so.2")
                        .exitCode
                == 0;
    }

    static List<String> command(Path mountpoint, String... options) {
        return command(System.getProperty("java.class.path"), mountpoint, options);
    }

    static List<String> command(String classPath, Path mountpoint, String... options) {
        List<String> command =
                new ArrayList<>(
                        List.of(
                                System.getProperty("java.home") + "/bin/java",
                                "-Xmx1g",
                                "-Xmn256m",
                                "-XX:+UseSerialGC",
                                "-XX:TieredStopAtLevel=1",
                                "--enable-native-access=ALL-UNNAMED",
                                "--sun-misc-unsafe-memory-access=allow",
                                "-cp",
                                classPath,
                                MemoryMount.class.getName(),
                                mountpoint.toString()));
        command.addAll(List.of(options));
        return command;
    }

    /** Mounts on an existing directory and waits until it is ready. */
    static MountedProcess start(Path mountpoint, String... options) throws Exception {
        return start(mountpoint, command(mountpoint, options));
    }

    static MountedProcess start(Path mountpoint, List<String> command) throws Exception {
        MountedProcess mounted = launch(mountpoint, command);
        mounted.expectLine("mounted ");
        return mounted;
    }

    static MountedProcess launch(Path mountpoint, List<String> command) throws IOException {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        return new MountedProcess(mountpoint, process);
    }

    private void collect() {
        try (BufferedReader reader = process.inputReader(StandardCharsets.UTF_8)) {
            for (String line = reader.readLine(); line != null; line = reader.readLine()) {
                lines.add(line);
            }
        } catch (IOException e) {
            lines.add("output ended: " + e);
        }
    }

    Path mountpoint() {
        return mountpoint;
    }

    Process process() {
        return process;
    }

    /** The next output line that begins so. */
    String expectLine(String prefix) throws InterruptedException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(READY_SECONDS);
        List<String> seen = new ArrayList<>();
        while (System.nanoTime() - deadline < 0) {
            String line = lines.poll(200, TimeUnit.MILLISECONDS);
            if (line != null && line.startsWith(prefix)) {
                return line;
            }
            if (line != null) {
                seen.add(line);
            }
        }
        throw new AssertionError("no line '" + prefix + "' in " + String.join("\n", seen));
    }

    /** Sends the mounting process a command. */
    void tell(String command) throws IOException {
        OutputStream input = process.getOutputStream();
        input.write((command + "\n").getBytes(StandardCharsets.UTF_8));
        input.flush();
    }

    /** Counters of the mount and of the file system behind it. */
    Map<String, Long> counts() throws Exception {
        tell("counts");
        Map<String, Long> counts = new TreeMap<>();
        while (true) {
            String line = expectLine("");
            if (line.equals("end")) {
                return counts;
            }
            String[] parts = line.split(" ", -1);
            if (parts[0].equals("count")) {
                counts.put(parts[1], Long.parseLong(parts[2]));
            }
        }
    }

    /** Runs a shell script in the mount; it must succeed within the time. */
    String shell(int seconds, String script) throws Exception {
        Outcome outcome = run(seconds, "bash", "-ec", "cd '" + mountpoint + "'\n" + script);
        assertThat(outcome.exitCode).as(outcome.output).isZero();
        return outcome.output;
    }

    /** Runs a Python program in the mount; it must succeed within the time. */
    String python(int seconds, String program) throws Exception {
        Outcome outcome =
                run(
                        seconds,
                        "python3",
                        "-c",
                        "import os\nos.chdir('" + mountpoint + "')\n" + program);
        assertThat(outcome.exitCode).as(outcome.output).isZero();
        return outcome.output;
    }

    /** Runs a program under timeout(1), so that it ends even when it hangs in the mount. */
    static Outcome run(int seconds, String... command) throws Exception {
        List<String> bounded =
                new ArrayList<>(
                        List.of("timeout", "-k", "2", Integer.toString(PATIENCE * seconds)));
        bounded.addAll(List.of(command));
        Process program =
                new ProcessBuilder(bounded)
                        .redirectErrorStream(true)
                        .redirectInput(Path.of("/dev/null").toFile())
                        .start();
        StringBuilder output = new StringBuilder();
        Thread reader =
                Thread.ofPlatform()
                        .daemon()
                        .start(() -> {
                            try {
                                output.append(
                                        new String(
                                                program.getInputStream().readAllBytes(),
                                                StandardCharsets.UTF_8));
                            } catch (IOException e) {
                                output.append(e);
                            }
                        });
        if (!program.waitFor(PATIENCE * seconds + 10L, TimeUnit.SECONDS)) {
            program.destroyForcibly();
            throw new AssertionError("does not end: " + String.join(" ", command));
        }
        reader.join(5_000);
        return new Outcome(program.exitValue(), output.toString());
    }

    @Override
    public void close() {
        try {
            process.getOutputStream().close();
            if (!process.waitFor(60, TimeUnit.SECONDS)) {
                run(10, "kill", "-QUIT", Long.toString(process.pid()));
                process.destroyForcibly().waitFor(10, TimeUnit.SECONDS);
                run(10, "umount", "-l", mountpoint.toString());
                throw new AssertionError(
                        "the mount's process does not end: " + String.join("\n", lines));
            }
            if (MountTable.at(mountpoint) != null) {
                run(10, "umount", "-l", mountpoint.toString());
            }
        } catch (Exception e) {
            throw new IllegalStateException("cleaning up " + mountpoint, e);
        }
    }
}

package org.globalfs.cli.cluster;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.globalfs.cli.ExitCode;
import org.globalfs.cli.Failure;

/** A process that was just started, until it is ready or has failed. */
final class Launched {
    private static final int TAIL_LINES = 12;
    private static final int MOST_LOG_BYTES = 1 << 20;
    private static final String ERROR_PREFIX = "globalfs: ";

    private final String name;
    private final Process process;
    private final RunFile run;
    private final Path log;
    private final long logStart;

    private Launched(String name, Process process, RunFile run, Path log, long logStart) {
        this.name = name;
        this.process = process;
        this.run = run;
        this.log = log;
        this.logStart = logStart;
    }

    static Launched start(
            ClusterFolder folder,
            String name,
            JavaLauncher.Kind kind,
            long heapBytes,
            List<String> arguments)
            throws IOException, Failure {
        RunFile run = folder.run(name);
        try (FileChannel _ = run.reserve()) {
            return start(run, folder.log(name), name, kind, heapBytes, arguments);
        }
    }

    static Launched start(
            RunFile run,
            Path log,
            String name,
            JavaLauncher.Kind kind,
            long heapBytes,
            List<String> arguments)
            throws IOException, Failure {
        long logStart = Files.exists(log) ? Files.size(log) : 0;
        run.end();
        Process process = JavaLauncher.start(kind, heapBytes, log, arguments);
        run.begin(process.pid());
        return new Launched(name, process, run, log, logStart);
    }

    boolean isReady() {
        return run.isReady();
    }

    /** Its own error and exit code when it has ended instead of getting ready. */
    void checkAlive(long deadlineNs) throws Failure, IOException {
        if (!process.isAlive()) {
            run.endOf(process.pid());
            throw failed();
        }
        if (System.nanoTime() > deadlineNs) {
            throw new Failure(
                    ExitCode.FAILED,
                    name + " did not become ready in time; its log " + log + " ends:\n" + tail());
        }
    }

    private Failure failed() throws IOException {
        int code = process.exitValue();
        int ours =
                code >= ExitCode.CONFIG && code <= ExitCode.ALREADY_RUNNING
                        ? code
                        : ExitCode.FAILED;
        String[] lines = newLog();
        for (int i = lines.length - 1; i >= 0; i--) {
            if (lines[i].startsWith(ERROR_PREFIX)) {
                return new Failure(ours, name + ": " + lines[i].substring(ERROR_PREFIX.length()));
            }
        }
        return new Failure(
                ours,
                name + " ended with exit code " + code + "; its log " + log + " ends:\n" + tail());
    }

    private String tail() throws IOException {
        String[] lines = newLog();
        int from = Math.max(0, lines.length - TAIL_LINES);
        return "  " + String.join("\n  ", Arrays.asList(lines).subList(from, lines.length));
    }

    /** The end of what it has logged: the file may have grown for years. */
    private String[] newLog() throws IOException {
        try (RandomAccessFile file = new RandomAccessFile(log.toFile(), "r")) {
            long size = file.length();
            long from = Math.max(Math.min(logStart, size), size - MOST_LOG_BYTES);
            byte[] bytes = new byte[(int) (size - from)];
            file.seek(from);
            file.readFully(bytes);
            return new String(bytes, StandardCharsets.UTF_8).strip().split("\n", -1);
        }
    }
}

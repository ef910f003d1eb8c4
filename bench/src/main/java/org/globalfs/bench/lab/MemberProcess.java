package org.globalfs.bench.lab;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.globalfs.bench.BenchFailure;

/** A member's process, as the benchmark talks to it. Used by one thread. */
public final class MemberProcess implements AutoCloseable {
    private static final String ENDED = "ended";
    private static final int TAIL_CHARACTERS = 2000;

    private final String name;
    private final Process process;
    private final Path errors;
    private final PrintStream commands;
    private final BlockingQueue<String> answers = new LinkedBlockingQueue<>();
    private final List<Long> acknowledged = new ArrayList<>(); // guarded by itself
    private final Thread reader;

    /** Starts the program; {@link #awaitReady} says when it serves. */
    public MemberProcess(String name, List<String> command, Path errors) {
        this.name = name;
        this.errors = errors;
        try {
            process =
                    new ProcessBuilder(command)
                            .redirectError(ProcessBuilder.Redirect.appendTo(errors.toFile()))
                            .start();
        } catch (IOException e) {
            throw new BenchFailure("cannot start " + name, e);
        }
        commands = new PrintStream(process.getOutputStream(), true, StandardCharsets.UTF_8);
        reader = Thread.ofPlatform().name("answers-" + name).daemon().start(this::read);
    }

    private void read() {
        try (BufferedReader lines =
                new BufferedReader(
                        new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                if (line.startsWith("ack ")) {
                    synchronized (acknowledged) {
                        acknowledged.add(Long.parseLong(line.substring(4)));
                    }
                } else {
                    answers.add(line);
                }
            }
        } catch (IOException | NumberFormatException e) {
            answers.add("error its output broke off: " + e.getMessage());
        }
        answers.add(ENDED);
    }

    public void awaitReady(Duration deadline) {
        await("start", deadline);
    }

    /** The answer to a command, without its "ok". */
    public String ask(String command) {
        return ask(command, Duration.ofSeconds(30));
    }

    /** As {@link #ask(String)}, of what takes longer. */
    public String ask(String command, Duration deadline) {
        commands.println(command);
        return await(command, deadline);
    }

    private String await(String command, Duration deadline) {
        String answer;
        try {
            answer = answers.poll(deadline.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new BenchFailure("interrupted");
        }
        if (answer == null || !answer.startsWith("ok")) {
            throw new BenchFailure(
                    "%s: %s: %s%n%s"
                            .formatted(
                                    name,
                                    command,
                                    answer == null ? "no answer in " + deadline : answer,
                                    tail()));
        }
        return answer.substring(2).strip();
    }

    private String tail() {
        try {
            String text = Files.readString(errors);
            return text.substring(Math.max(0, text.length() - TAIL_CHARACTERS));
        } catch (IOException e) {
            return "its log cannot be read: " + e;
        }
    }

    /** SIGKILL. Returns once the process is gone and all that it had printed is read. */
    public void kill() {
        process.destroyForcibly();
        try {
            process.waitFor();
            reader.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Ids that the member announced as acknowledged. */
    public List<Long> acknowledged() {
        synchronized (acknowledged) {
            return List.copyOf(acknowledged);
        }
    }

    @Override
    public void close() {
        commands.println("exit");
        try {
            if (!process.waitFor(5, TimeUnit.SECONDS)) {
                kill();
            }
        } catch (InterruptedException e) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
        }
    }
}

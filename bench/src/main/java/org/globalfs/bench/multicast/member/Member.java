package org.globalfs.bench.multicast.member;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * A member and its conversation with the benchmark: each line in is a command, answered by one line
 * that begins with "ok" or "error". Acknowledged ids are announced in between, as "ack" lines.
 */
final class Member implements AutoCloseable {
    /** Sequence numbers that each load has to itself, as a power of two. */
    private static final int LOAD_SHIFT = 32;

    private final MemberOptions options;
    private final DeliveryRecord record = new DeliveryRecord();
    private final MeasuredLog log;
    private volatile @Nullable ClosedLoop load;
    private long loads;

    Member(MemberOptions options) throws IOException {
        this.options = options;
        this.log =
                switch (options.system()) {
                    case "globalfs" ->
                            new MulticastLogMember(options, this::acknowledged, Member::fatal);
                    case "ratis-throughput" ->
                            new RatisMember(
                                    options, RatisMember.BATCHING_WAIT_MS, this::acknowledged);
                    case "ratis-latency" -> new RatisMember(options, 0, this::acknowledged);
                    case String system when MergedLogMember.runs(system) ->
                            new MergedLogMember(options, this::acknowledged, Member::fatal);
                    default ->
                            throw new IllegalArgumentException(
                                    "unknown system " + options.system());
                };
    }

    private static void fatal(Throwable cause) {
        cause.printStackTrace();
        Runtime.getRuntime().halt(3);
    }

    private void acknowledged(long id) {
        if (options.keepsLog()) {
            record.add(id);
        }
        ClosedLoop current = load;
        if (current != null) {
            current.acknowledged(id);
        }
    }

    /** Until the benchmark says "exit" or has gone. */
    void serve(InputStream in, PrintStream out) throws IOException {
        say(out, "ok ready");
        BufferedReader lines =
                new BufferedReader(new InputStreamReader(in, StandardCharsets.UTF_8));
        for (String line = lines.readLine();
                line != null && !line.equals("exit");
                line = lines.readLine()) {
            say(out, answer(line.split(" "), out));
        }
    }

    private static void say(PrintStream out, String line) {
        synchronized (out) {
            out.println(line);
            out.flush();
        }
    }

    private String answer(String[] words, PrintStream out) throws IOException {
        return switch (words[0]) {
            case "coordinator" -> "ok " + log.coordinator();
            case "usage" -> "ok " + ProcessUsage.now();
            case "start" -> {
                LongConsumer announce =
                        words[4].equals("announce") ? id -> say(out, "ack " + id) : id -> {};
                start(
                        Integer.parseInt(words[1]),
                        Integer.parseInt(words[2]),
                        Long.parseLong(words[3]) * 1_000_000,
                        words.length > 5 ? Long.parseLong(words[5]) * 1_000_000 : 0,
                        announce);
                yield "ok";
            }
            case "mark" -> {
                running().mark();
                yield "ok";
            }
            case "measured" -> "ok " + running().measured();
            case "stop" -> {
                running().close();
                load = null;
                yield "ok";
            }
            case "count" -> "ok " + record.count();
            case "record" -> {
                record.write(Path.of(words[1]));
                yield "ok";
            }
            default -> "error unknown command " + words[0];
        };
    }

    private void start(
            int outstanding, int sizeBytes, long retryNs, long pauseNs, LongConsumer announce) {
        ClosedLoop loop =
                new ClosedLoop(
                        log,
                        options.self(),
                        loads++ << LOAD_SHIFT,
                        outstanding,
                        sizeBytes,
                        retryNs,
                        pauseNs,
                        announce);
        load = loop;
        loop.start();
    }

    private ClosedLoop running() {
        ClosedLoop current = load;
        if (current == null) {
            throw new IllegalStateException("no load is running");
        }
        return current;
    }

    @Override
    public void close() {
        log.close();
    }
}

package org.globalfs.jepsen;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A history as it is being made, in Jepsen's format. Thread-safe: an entry is in the file before
 * the call returns, in one order for all.
 */
final class Recording implements AutoCloseable {
    private final Writer out;
    private final long startNs = System.nanoTime();
    private long index;
    private long invocations;
    private long done;

    Recording(Path file) throws IOException {
        out = Files.newBufferedWriter(file);
    }

    /**
     * Notes an invocation; false: the history has as many as it may have.
     *
     * @param node the region of the client's mount
     */
    synchronized boolean invoke(long process, String node, Step step, long most) {
        if (invocations >= most) {
            return false;
        }
        invocations++;
        add("invoke", process, step.f(), step.value(), null, Map.of("node", node));
        return true;
    }

    /** Nanoseconds since its beginning, as its entries have them. */
    long timeNs() {
        return System.nanoTime() - startNs;
    }

    synchronized void complete(long process, String node, Step step, Answer answer) {
        Outcome outcome = answer.outcome();
        done += outcome.is("ok") ? 1 : 0;
        Object value = outcome.is("ok") ? step.seen().apply(outcome.value()) : step.value();
        Map<String, Object> more = new LinkedHashMap<>();
        if (!answer.refused().isEmpty()) {
            more.put("refused", answer.refused());
        }
        more.put("node", node);
        add(outcome.type(), process, step.f(), value, outcome.error(), more);
    }

    /** How many operations were done. */
    synchronized long done() {
        return done;
    }

    /** Says where it works, and when it began. Checkers pass over this entry and the next two. */
    synchronized void begun(List<String> partitions, Instant at) {
        byNemesis("begun", at.toString(), Map.of("partitions", partitions));
    }

    /**
     * What is done to the cluster.
     *
     * @param already it began before this history
     * @param spares clients and partitions, {@code us-west>global}, that have all that they need
     * @param readable clients, and partitions of which they have to be able to read all content
     * @param writable clients, and partitions of which they have to be able to write content
     */
    synchronized void broken(
            String fault,
            String target,
            boolean already,
            List<String> spares,
            List<String> readable,
            List<String> writable) {
        Map<String, Object> more = new LinkedHashMap<>();
        more.put("already", already);
        more.put("readable", readable);
        more.put("writable", writable);
        more.put("spares", spares);
        byNemesis(fault, target, more);
    }

    /** What was done is undone. */
    synchronized void healed(String what) {
        byNemesis("healed", what, Map.of());
    }

    private void byNemesis(String f, String value, Map<String, Object> more) {
        add("info", new Edn.Keyword("nemesis"), f, value, null, more);
    }

    private void add(
            String type,
            Object process,
            String f,
            @Nullable Object value,
            @Nullable String error,
            Map<String, Object> more) {
        StringBuilder line = new StringBuilder(120);
        line.append("{:index ").append(index++);
        line.append(", :time ").append(timeNs());
        line.append(", :type :").append(type);
        line.append(", :process ").append(Edn.of(process));
        line.append(", :f :").append(f);
        line.append(", :value ").append(Edn.of(value));
        if (error != null) {
            line.append(", :error ").append(Edn.of(error));
        }
        more.forEach((key, also) -> line.append(", :" + key + " ").append(Edn.of(also)));
        try {
            out.append(line.append("}\n"));
        } catch (IOException e) {
            throw new UncheckedIOException("cannot record", e);
        }
    }

    @Override
    public synchronized void close() throws IOException {
        out.close();
    }
}

package org.globalfs.jepsen;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
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

    Recording(Path file) throws IOException {
        out = Files.newBufferedWriter(file);
    }

    /** Notes an invocation; false: the history has as many as it may have. */
    synchronized boolean invoke(long process, Step step, long most) {
        if (invocations >= most) {
            return false;
        }
        invocations++;
        add("invoke", process, step.f(), step.value(), null);
        return true;
    }

    synchronized void complete(long process, Step step, Outcome outcome) {
        Object value = outcome.is("ok") ? step.seen().apply(outcome.value()) : step.value();
        add(outcome.type(), process, step.f(), value, outcome.error());
    }

    /** What is done to the cluster; checkers pass over it. */
    synchronized void nemesis(String f, String what) {
        add("info", new Edn.Keyword("nemesis"), f, what, null);
    }

    private void add(
            String type, Object process, String f, @Nullable Object value, @Nullable String error) {
        StringBuilder line = new StringBuilder(120);
        line.append("{:index ").append(index++);
        line.append(", :time ").append(System.nanoTime() - startNs);
        line.append(", :type :").append(type);
        line.append(", :process ").append(Edn.of(process));
        line.append(", :f :").append(f);
        line.append(", :value ").append(Edn.of(value));
        if (error != null) {
            line.append(", :error ").append(Edn.of(error));
        }
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

package org.globalfs.cli.storage;

import java.io.Closeable;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.globalfs.datastore.wire.OlderNodeException;
import org.jspecify.annotations.Nullable;

/**
 * A node's, or partition's, pass over its chunks, asked for and followed until it ends. Of one
 * thread at a time.
 */
abstract class NodePass implements Closeable {
    private final String id;
    private final PassPlaces places;
    private final long patienceNs;
    private @Nullable PassTarget connection;
    private String begunBy = "";
    private @Nullable String failure;
    private boolean silent;
    private long silentSinceNs;

    /**
     * @param patienceMs how long the node may be silent, in which it may be started again
     */
    NodePass(String id, PassPlaces places, long patienceMs) {
        this.id = id;
        this.places = places;
        this.patienceNs = TimeUnit.MILLISECONDS.toNanos(patienceMs);
    }

    /** Where it hears of what it does not hold itself. */
    final String others() {
        return places.words().others();
    }

    String id() {
        return id;
    }

    /** Asks how far it is; the first time, and when the node knows nothing of it, for the pass. */
    final void look() {
        if (isOver()) {
            return;
        }
        try {
            failure = ask(connect());
            silent = false;
        } catch (OlderNodeException e) {
            failure = "is of an older version: upgrade it";
        } catch (IOException e) {
            close();
            if (!silent) {
                silent = true;
                silentSinceNs = System.nanoTime();
            }
            if (!hasBegun() || System.nanoTime() - silentSinceNs >= patienceNs) {
                failure = "does not answer: " + e.getMessage();
            }
        }
    }

    private PassTarget connect() throws IOException {
        PassTarget open = connection;
        if (open == null) {
            open = places.open(id);
            connection = open;
        }
        return open;
    }

    /** The last answer, to the request for the pass, says how far that pass is. */
    final void begunBy(PassTarget open) {
        begunBy = open.answeredBy();
    }

    /** Whether the last answer is of somebody who was not asked for the pass. */
    final boolean isAnothers(PassTarget open) {
        return !open.answeredBy().equals(begunBy);
    }

    /** Null, or why the node will not do it. */
    abstract @Nullable String ask(PassTarget open) throws IOException;

    /** Whether the node has taken the request. */
    abstract boolean hasBegun();

    abstract boolean hasEnded();

    /** Of 1. */
    abstract double done();

    abstract String text();

    /** What it could not do, of a pass that has ended; null: nothing. */
    abstract @Nullable String left();

    /** Some of what it could not do, one by one. */
    abstract List<String> problems();

    /** How the request was taken. */
    abstract String beginning();

    final boolean isOver() {
        return failure != null || hasEnded();
    }

    /** What is not well with the node, in words that begin with it; null: nothing. */
    final @Nullable String complaint() {
        String what = failure != null ? failure : hasEnded() ? left() : null;
        return what == null ? null : id + " " + what;
    }

    final ProgressView.Row row() {
        String text =
                failure != null
                        ? failure
                        : silent ? "does not answer" : hasBegun() ? text() : "is asked";
        return new ProgressView.Row(id, hasEnded() ? 1 : done(), text, isOver());
    }

    @Override
    public final void close() {
        PassTarget open = connection;
        connection = null;
        if (open != null) {
            try {
                open.close();
            } catch (IOException e) {
                silent = true; // it was of no use any more
            }
        }
    }
}

package org.globalfs.jepsen.cluster;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;

/** Whether storage nodes have all that they should of all content, by what they say themselves. */
final class StoredContent {
    private static final long PAUSE_NS = 500_000_000;
    private static final String HEAD = "NODE ";
    private static final int STATE = 3;
    private static final int CHUNKS = 4;

    /** Kept for others, damaged, to move, to make anew. */
    private static final int COUNTS = 4;

    /** {@code globalfs datastore WHAT}. */
    interface Commands {
        /** What it printed; fails when it does. */
        String run(String what) throws IOException;
    }

    private final Commands datastore;

    StoredContent(Commands datastore) {
        this.datastore = datastore;
    }

    /**
     * Has nodes put all where it belongs and make anew what lacks; returns what is left of that
     * when the time is over, empty: nothing.
     *
     * @param unseen whether there may be damage that nobody has met: all is read, then
     */
    Optional<String> awaitWhole(Duration limit, boolean unseen) {
        long deadlineNs = System.nanoTime() + limit.toNanos();
        while (true) {
            Optional<String> left;
            try {
                left = left(datastore.run("status"));
                if (left.isEmpty()) {
                    datastore.run("repair");
                    if (unseen) {
                        datastore.run("scrub");
                    }
                    return Optional.empty();
                }
            } catch (IOException e) {
                left = Optional.of(String.valueOf(e.getMessage()).strip());
            }
            if (System.nanoTime() - deadlineNs > 0) {
                return left;
            }
            LockSupport.parkNanos(PAUSE_NS);
        }
    }

    /**
     * Waits until no node has a chunk any more; what is left if it does not come to that.
     *
     * @param limit how long deletions and sweeps may take
     */
    Optional<String> awaitNone(Duration limit) {
        long deadlineNs = System.nanoTime() + limit.toNanos();
        while (true) {
            Optional<String> left;
            try {
                left = held(datastore.run("status"));
            } catch (IOException e) {
                left = Optional.of(String.valueOf(e.getMessage()).strip());
            }
            if (left.isEmpty() || System.nanoTime() - deadlineNs > 0) {
                return left;
            }
            LockSupport.parkNanos(PAUSE_NS);
        }
    }

    /**
     * The nodes that have chunks, or of which nobody knows, a line each; empty: none has.
     *
     * @param status what {@code globalfs datastore status} prints
     */
    static Optional<String> held(String status) {
        List<String> nodes = nodes(status);
        if (nodes.isEmpty()) {
            return Optional.of("no storage nodes: " + status.strip());
        }
        String held =
                nodes.stream()
                        .filter(node -> {
                            List<String> cells = cells(node);
                            return cells.size() <= CHUNKS || !cells.get(CHUNKS).equals("0");
                        })
                        .collect(Collectors.joining("\n"));
        return held.isEmpty() ? Optional.empty() : Optional.of(held);
    }

    /**
     * The first node that is not up, or has something left to do.
     *
     * @param status what {@code globalfs datastore status} prints
     */
    static Optional<String> left(String status) {
        List<String> nodes = nodes(status);
        if (nodes.isEmpty()) {
            return Optional.of("no storage nodes: " + status.strip());
        }
        return nodes.stream().filter(node -> !isAtRest(node)).findFirst();
    }

    private static List<String> nodes(String status) {
        return status.lines()
                .dropWhile(line -> !line.startsWith(HEAD))
                .skip(1)
                .takeWhile(line -> !line.isBlank())
                .toList();
    }

    private static List<String> cells(String node) {
        return List.of(node.strip().split(" {2,}", -1));
    }

    private static boolean isAtRest(String node) {
        List<String> cells = cells(node);
        return cells.size() > STATE + COUNTS
                && cells.get(STATE).equals("up")
                && cells.subList(cells.size() - COUNTS, cells.size()).stream()
                        .allMatch("0"::equals);
    }
}

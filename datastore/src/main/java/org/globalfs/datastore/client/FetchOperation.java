package org.globalfs.datastore.client;

import java.io.IOException;
import java.net.SocketTimeoutException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.globalfs.datastore.erasure.ReedSolomon;
import org.globalfs.datastore.wire.ChunkKey;
import org.globalfs.protocol.discovery.StorageSite;
import org.globalfs.protocol.wire.BlockRef;

/** Gets chunks of a block from the nodes that they belong to, and makes do with those that come. */
final class FetchOperation {
    private final BlockClientContext context;
    private final Lane lane;
    private final BlockRef ref;
    private final List<StorageSite> homes;
    private final int chunkBytes;
    private final long deadlineNs;
    private final Map<Exchange, byte[]> pending = new HashMap<>();
    private final List<FetchedChunk> fetched = new ArrayList<>();
    private long unanswered;
    private final Set<Integer> stale = new HashSet<>();
    private final Set<Integer> checked = new HashSet<>();

    /**
     * @param chunks a bit by chunk index
     */
    FetchOperation(
            BlockClientContext context,
            Lane lane,
            BlockRef ref,
            List<StorageSite> homes,
            long chunks,
            long deadlineNs) {
        this.context = context;
        this.lane = lane;
        this.ref = ref;
        this.homes = homes;
        this.deadlineNs = deadlineNs;
        chunkBytes =
                ReedSolomon.of(ref.getDataChunks(), ref.getParityChunks())
                        .chunkBytes(ref.getLength());
        for (int chunk = 0; chunk < homes.size(); chunk++) {
            if ((chunks >>> chunk & 1) == 0) {
                continue;
            }
            if (context.detector().isSuspect(homes.get(chunk).id())) {
                unanswered |= 1L << chunk;
            } else {
                ask(chunk);
            }
        }
    }

    private void ask(int chunk) {
        byte[] bytes = new byte[chunkBytes];
        Exchange exchange =
                Exchange.get(
                        homes.get(chunk).id(),
                        chunk,
                        lane.nextRequest(),
                        new ChunkKey(ref.getIdHigh(), ref.getIdLow(), chunk),
                        0,
                        chunkBytes,
                        chunkBytes,
                        checked.contains(chunk) || lane.isInBackground(),
                        bytes,
                        0);
        pending.put(exchange, bytes);
        lane.send(exchange, context.directory().address(homes.get(chunk)));
    }

    Fetched run() throws IOException {
        while (!pending.isEmpty()) {
            Exchange exchange;
            while ((exchange = lane.poll()) != null) {
                byte[] bytes = pending.remove(exchange);
                if (bytes == null) {
                    continue;
                }
                if (exchange.mustBeChecked() && checked.add(exchange.tag)
                        || exchange.failedOnStaleLink() && stale.add(exchange.tag)) {
                    ask(exchange.tag);
                } else {
                    finished(exchange, bytes);
                }
            }
            if (System.nanoTime() - deadlineNs >= 0) {
                for (Exchange late : pending.keySet()) {
                    unanswered |= 1L << late.tag;
                    context.detector().slow(late.node, "no answer to a fetch in time");
                    lane.drop(late.node, new SocketTimeoutException("timed out"));
                }
                return new Fetched(fetched, unanswered);
            }
            if (!pending.isEmpty()) {
                lane.await(deadlineNs);
            }
        }
        return new Fetched(fetched, unanswered);
    }

    private void finished(Exchange exchange, byte[] bytes) {
        if (exchange.status() == null) {
            unanswered |= 1L << exchange.tag;
            context.detector().unreachable(exchange.node, String.valueOf(exchange.failure()));
            return;
        }
        context.detector().answered(exchange.node);
        if (exchange.brought(chunkBytes)) {
            fetched.add(
                    new FetchedChunk(
                            exchange.tag,
                            homes.get(exchange.tag).partition(),
                            bytes,
                            System.nanoTime() - exchange.sentNs));
        }
    }
}

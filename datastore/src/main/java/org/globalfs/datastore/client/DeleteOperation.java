package org.globalfs.datastore.client;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.globalfs.datastore.wire.ChunkStatus;
import org.globalfs.datastore.wire.Opcode;
import org.globalfs.protocol.discovery.StorageSite;
import org.globalfs.protocol.wire.BlockRef;

/**
 * Deletes blocks from every node that may hold a chunk of them, homes and stand-ins, one request a
 * node.
 */
final class DeleteOperation {
    static final int MAX_BLOCKS = 1_000;
    private static final int ENTRY_BYTES = 16;

    private final BlockClientContext context;
    private final Lane lane;
    private final long deadlineNs;
    private final Map<String, StorageSite> open = new HashMap<>();
    private final Map<String, byte[]> payloads = new HashMap<>();
    private final Set<String> retried = new HashSet<>();
    private final Set<String> failed = new HashSet<>();

    DeleteOperation(BlockClientContext context, Lane lane, long deadlineNs) {
        this.context = context;
        this.lane = lane;
        this.deadlineNs = deadlineNs;
    }

    /** Runs; returns the ids of nodes that did not confirm. */
    Set<String> run(Map<StorageSite, List<BlockRef>> work) throws IOException {
        work.forEach((site, refs) -> {
            payloads.put(site.id(), payload(refs));
            if (context.detector().isSuspect(site.id())) {
                failed.add(site.id());
            } else {
                send(site);
            }
        });
        while (!open.isEmpty() && System.nanoTime() - deadlineNs < 0) {
            Exchange exchange;
            while ((exchange = lane.poll()) != null) {
                finished(exchange);
            }
            if (!open.isEmpty()) {
                lane.await(deadlineNs);
            }
        }
        for (String node : open.keySet()) {
            context.detector().slow(node, "no answer to a delete in time");
            failed.add(node);
        }
        return failed;
    }

    private static byte[] payload(Collection<BlockRef> refs) {
        ByteBuffer list = ByteBuffer.allocate(refs.size() * ENTRY_BYTES);
        for (BlockRef ref : refs) {
            list.putLong(ref.getIdHigh()).putLong(ref.getIdLow());
        }
        return list.array();
    }

    private void send(StorageSite site) {
        byte[] payload = payloads.getOrDefault(site.id(), new byte[0]);
        open.put(site.id(), site);
        lane.send(
                new Exchange(
                        Opcode.DELETE,
                        site.id(),
                        0,
                        lane.nextRequest(),
                        to -> {},
                        payload,
                        0,
                        payload.length),
                context.directory().address(site));
    }

    private void finished(Exchange exchange) {
        StorageSite site = open.remove(exchange.node);
        if (site == null) {
            return;
        }
        if (exchange.status() == ChunkStatus.OK) {
            context.detector().answered(exchange.node);
        } else if (exchange.status() == null
                && exchange.onReusedLink
                && retried.add(exchange.node)) {
            send(site);
        } else {
            if (exchange.status() == null) {
                context.detector().unreachable(exchange.node, String.valueOf(exchange.failure()));
            }
            failed.add(exchange.node);
        }
    }
}

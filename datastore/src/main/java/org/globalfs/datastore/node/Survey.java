package org.globalfs.datastore.node;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListSet;
import org.globalfs.datastore.wire.ChunkKey;
import org.globalfs.datastore.wire.ChunkShape;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Who holds which chunks of some blocks, on disk and not known to be damaged: asked of every node
 * of the region that is announced, but those that are taken for dead. What several threads note of
 * different chunks, at a time, is kept.
 */
final class Survey {
    private static final Logger LOG = LoggerFactory.getLogger(Survey.class);

    private final Map<ChunkKey, NavigableSet<String>> holders = new ConcurrentHashMap<>();
    private final Set<ChunkKey> unread = new HashSet<>();
    private final Set<String> silent = new TreeSet<>();

    private Survey() {}

    /**
     * @param blocks keys with index 0, and shapes; all of one region
     */
    static Survey of(
            Map<ChunkKey, ChunkShape> blocks,
            int region,
            String self,
            SegmentStore store,
            Peers peers) {
        Survey survey = new Survey();
        List<ChunkKey> keys = new ArrayList<>();
        new LinkedHashMap<>(blocks)
                .forEach((block, shape) -> {
                    for (int i = 0; i < shape.dataChunks() + shape.parityChunks(); i++) {
                        keys.add(new ChunkKey(block.idHigh(), block.idLow(), i));
                    }
                });
        for (ChunkKey key : keys) {
            survey.lookFor(key, self, store);
        }
        for (String id : peers.ofRegion(region)) {
            if (peers.isToBeLeft(id)) {
                continue;
            }
            try {
                byte[] held = peers.ask(id, node -> node.has(keys));
                peers.noteAnswer(id);
                for (int i = 0; i < held.length; i++) {
                    if (held[i] == 1) {
                        survey.note(keys.get(i), id);
                    }
                }
            } catch (IOException e) {
                LOG.debug("{}: {} does not say what it holds: {}", self, id, e.toString());
                peers.noteSilent(id);
                if (!peers.isMute(id)) {
                    survey.silent.add(id);
                }
            }
        }
        return survey;
    }

    private void lookFor(ChunkKey key, String self, SegmentStore store) {
        try {
            if (store.has(key)) {
                note(key, self);
            }
        } catch (UncheckedIOException e) {
            LOG.debug("{}: chunk {} cannot be looked up: {}", self, key, e.toString());
            unread.add(new ChunkKey(key.idHigh(), key.idLow(), 0));
        }
    }

    /** Whether this node's own index does not say what there is of the block. */
    boolean isUnread(ChunkKey block) {
        return unread.contains(block);
    }

    void note(ChunkKey key, String id) {
        holders.computeIfAbsent(key, k -> new ConcurrentSkipListSet<>()).add(id);
    }

    void lacks(ChunkKey key, String id) {
        holders(key).remove(id);
    }

    void moved(ChunkKey key, String from, String to) {
        note(key, to);
        holders(key).remove(from);
    }

    /**
     * Whether everybody answered who is not taken for dead: what nobody is known to hold is missing
     * then.
     */
    boolean isComplete() {
        return silent.isEmpty();
    }

    /** Who did not. */
    String silent() {
        return String.join(", ", silent);
    }

    /** Ids of the chunk's holders, in order. */
    Collection<String> holders(ChunkKey key) {
        return holders.getOrDefault(key, Collections.emptyNavigableSet());
    }
}

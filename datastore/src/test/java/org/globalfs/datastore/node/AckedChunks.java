package org.globalfs.datastore.node;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.globalfs.datastore.wire.ChunkKey;
import org.globalfs.datastore.wire.ChunkShape;
import org.globalfs.datastore.wire.ChunkStatus;

/** What a store has acknowledged, to compare it with what is there after a crash. */
final class AckedChunks {
    static final ChunkShape SHAPE = new ChunkShape(4_000, 1, 4, 2, 1);

    private final Map<ChunkKey, byte[]> live = new LinkedHashMap<>();

    /** Being put or deleted: both is right. */
    private final Map<ChunkKey, byte[]> unclear = new LinkedHashMap<>();

    /** The disk damaged them, and they were not put again since. */
    private final Set<ChunkKey> damaged = new HashSet<>();

    private final Set<ChunkKey> gone = new HashSet<>();

    List<ChunkKey> live() {
        return new ArrayList<>(live.keySet());
    }

    byte[] bytes(ChunkKey key) {
        return live.get(key);
    }

    /** Puts them one behind the other, and syncs once. */
    void put(SegmentStore store, Map<ChunkKey, byte[]> chunks) throws IOException {
        chunks.forEach((key, bytes) -> {
            if (!damaged.contains(key)) {
                unclear.put(key, bytes);
            }
        });
        long ticket = 0;
        for (Map.Entry<ChunkKey, byte[]> chunk : chunks.entrySet()) {
            byte[] bytes = chunk.getValue();
            SegmentStore.Written written =
                    store.put(
                            chunk.getKey(),
                            SHAPE,
                            chunk.getKey().index() == 5 ? "another" : null,
                            ByteBuffer.allocateDirect(bytes.length).put(bytes).flip());
            assertThat(written.status()).isEqualTo(ChunkStatus.OK);
            ticket = written.ticket();
        }
        store.sync(ticket);
        live.putAll(chunks);
        chunks.keySet().forEach(unclear::remove);
        damaged.removeAll(chunks.keySet());
    }

    void damage(ChunkKey key) {
        live.remove(key);
        damaged.add(key);
    }

    void delete(SegmentStore store, Collection<ChunkKey> keys) throws IOException {
        for (ChunkKey key : keys) {
            unclear.put(key, live.remove(key));
        }
        assertThat(store.delete(new ArrayList<>(keys))).isEqualTo(keys.size());
        keys.forEach(unclear::remove);
        gone.addAll(keys);
    }

    /** What was acknowledged is there, and what was deleted is not. */
    void check(SegmentStore store) throws IOException {
        for (Map.Entry<ChunkKey, byte[]> chunk : live.entrySet()) {
            assertThat(read(store, chunk.getKey(), chunk.getValue().length))
                    .as("%s", chunk.getKey())
                    .isEqualTo(chunk.getValue());
        }
        int others = 0;
        for (Map.Entry<ChunkKey, byte[]> chunk : unclear.entrySet()) {
            ChunkKey key = chunk.getKey();
            if (store.has(key)) {
                assertThat(read(store, key, chunk.getValue().length)).isEqualTo(chunk.getValue());
            }
            others += store.location(key) == null ? 0 : 1;
        }
        for (ChunkKey key : damaged) {
            others += store.location(key) == null ? 0 : 1;
        }
        for (ChunkKey key : gone) {
            assertThat(store.location(key)).as("%s", key).isNull();
        }
        assertThat(store.count()).isEqualTo(live.size() + others);
    }

    /** What has not been acknowledged can be put again: it is written where it is not right. */
    void putUnclear(SegmentStore store) throws IOException {
        put(store, new LinkedHashMap<>(unclear));
        check(store);
    }

    /** For an image of the store, which changes nothing here. */
    AckedChunks copy() {
        AckedChunks copy = new AckedChunks();
        copy.live.putAll(live);
        copy.unclear.putAll(unclear);
        copy.damaged.addAll(damaged);
        copy.gone.addAll(gone);
        return copy;
    }

    static byte[] read(SegmentStore store, ChunkKey key, int length) throws IOException {
        ByteBuffer into = ByteBuffer.allocateDirect(SegmentStore.readRoom(length));
        assertThat(store.read(key, 0, length, into)).as("%s", key).isEqualTo(ChunkStatus.OK);
        byte[] bytes = new byte[into.remaining()];
        into.get(bytes);
        return bytes;
    }
}

package org.globalfs.datastore.client;

import java.util.List;

/**
 * What came of a fetch.
 *
 * @param chunks that came
 * @param unanswered those whose node said nothing, a bit by chunk index; the nodes of others that
 *     did not come have answered without them
 */
public record Fetched(List<FetchedChunk> chunks, long unanswered) {
    public static final Fetched NOTHING = new Fetched(List.of(), 0);

    public Fetched {
        chunks = List.copyOf(chunks);
    }
}

package org.globalfs.datastore.client;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Predicate;
import org.globalfs.protocol.HostPort;
import org.globalfs.protocol.discovery.Discovery;
import org.globalfs.protocol.discovery.Member;
import org.globalfs.protocol.discovery.Role;
import org.jspecify.annotations.Nullable;

/** The caches that are announced now, by the names that the storage protocol has for them. */
final class CacheDirectory implements NodeAddresses {
    private final Discovery discovery;
    private volatile Map<String, Member> caches = Map.of();

    CacheDirectory(Discovery discovery) {
        this.discovery = discovery;
        discovery.onChange(this::refresh);
        refresh();
    }

    private void refresh() {
        Map<String, Member> found = new LinkedHashMap<>();
        for (Member member : discovery.members(Role.CACHE)) {
            found.put(CacheNodes.name(member.id()), member);
        }
        caches = Map.copyOf(found);
    }

    /** The address that the cache announces; null: it announces none. */
    @Override
    public @Nullable HostPort address(String cache) {
        Member announced = caches.get(cache);
        return announced == null ? null : announced.address();
    }

    /**
     * The cache of a region that keeps chunks of the block: each has a part of the blocks, and
     * those of caches that are away are spread over the others.
     *
     * @return its name; null: none can be used
     */
    @Nullable String cache(String region, long idHigh, long idLow, Predicate<String> away) {
        String best = null;
        long most = Long.MIN_VALUE;
        for (Map.Entry<String, Member> cache : caches.entrySet()) {
            long draw = CacheNodes.draw(cache.getKey(), idHigh, idLow);
            boolean first = best == null || draw > most;
            if (first && cache.getValue().region().equals(region) && !away.test(cache.getKey())) {
                best = cache.getKey();
                most = draw;
            }
        }
        return best;
    }
}

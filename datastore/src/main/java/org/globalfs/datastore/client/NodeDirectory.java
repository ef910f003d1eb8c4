package org.globalfs.datastore.client;

import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.globalfs.datastore.placement.Placement;
import org.globalfs.protocol.HostPort;
import org.globalfs.protocol.discovery.Discovery;
import org.globalfs.protocol.discovery.Epoch;
import org.globalfs.protocol.discovery.Member;
import org.globalfs.protocol.discovery.PlacementEpochs;
import org.globalfs.protocol.discovery.Role;
import org.globalfs.protocol.discovery.StorageSite;
import org.jspecify.annotations.Nullable;

/** Where nodes and caches are now, and the placements of known epochs. */
final class NodeDirectory implements NodeAddresses {
    private record PlacementKey(int epoch, int region) {}

    private final PlacementEpochs epochs;
    private final Discovery discovery;
    private final Map<PlacementKey, Placement> placements = new ConcurrentHashMap<>();
    private volatile Map<String, Member> members = Map.of();
    private final CacheDirectory caches;

    NodeDirectory(Discovery discovery, PlacementEpochs epochs) {
        this.discovery = discovery;
        this.epochs = epochs;
        caches = new CacheDirectory(discovery);
        discovery.onChange(this::refresh);
        refresh();
    }

    private void refresh() {
        Map<String, Member> found = new LinkedHashMap<>();
        for (Member member : discovery.members(Role.STORAGE)) {
            found.put(member.id(), member);
        }
        members = Map.copyOf(found);
    }

    /** Whether no node can have joined that is not known here. */
    boolean isCurrent() {
        return discovery.isCurrent();
    }

    int newestEpoch() {
        return epochs.newest().number();
    }

    /** Another process knows this epoch. */
    void learn(Epoch epoch) {
        epochs.learn(epoch);
    }

    Placement newest(int region) throws IOException {
        return placement(epochs.newest(), region);
    }

    Placement placement(int epoch, int region) throws IOException {
        Placement known = placements.get(new PlacementKey(epoch, region));
        return known != null ? known : placement(epochs.epoch(epoch), region);
    }

    private Placement placement(Epoch epoch, int region) {
        return placements.computeIfAbsent(
                new PlacementKey(epoch.number(), region), key -> Placement.of(epoch, region));
    }

    /**
     * The address that the node announces; else, discovery away or the node down, its last known
     * one. Null: it is gone for good, as far as is known here.
     */
    @Override
    public @Nullable HostPort address(String node) {
        Member announced = members.get(node);
        HostPort address = announced != null ? announced.address() : caches.address(node);
        if (address != null) {
            return address;
        }
        for (StorageSite site : epochs.newest().nodes()) {
            if (site.id().equals(node)) {
                return site.address();
            }
        }
        return null;
    }

    CacheDirectory caches() {
        return caches;
    }

    HostPort address(StorageSite site) {
        Member announced = members.get(site.id());
        return announced != null ? announced.address() : site.address();
    }

    /**
     * Every node that may hold chunks of a region's blocks: those of the newest epoch, and those
     * that are announced without having a place in it, because they are being drained.
     */
    List<StorageSite> holders(int region) throws IOException {
        Map<String, StorageSite> found = new LinkedHashMap<>();
        for (StorageSite site : newest(region).nodes()) {
            found.put(site.id(), site);
        }
        for (Member member : members.values()) {
            if (region == 0 || member.partition() == region) {
                found.putIfAbsent(
                        member.id(),
                        new StorageSite(
                                member.id(),
                                member.region(),
                                member.partition(),
                                member.datacenter(),
                                member.address(),
                                1));
            }
        }
        return List.copyOf(found.values());
    }
}

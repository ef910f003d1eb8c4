package org.globalfs.cli.server;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.globalfs.cli.ExitCode;
import org.globalfs.cli.Failure;
import org.globalfs.protocol.HostPort;
import org.globalfs.protocol.config.Roles.CacheRole;
import org.globalfs.protocol.config.Roles.StorageRole;
import org.globalfs.protocol.config.ServerConfig;
import org.globalfs.protocol.discovery.Discovery;
import org.globalfs.protocol.discovery.Member;
import org.globalfs.protocol.discovery.Role;
import org.jspecify.annotations.Nullable;

/**
 * Replicas, storage nodes and caches that live elsewhere under ids which are to be this process's.
 * Two of one id would throw each other out of their ring, or keep what the other is looked for; of
 * two caches one would not be used.
 *
 * <p>Whoever is announced at the same address is this process's predecessor: it is gone, or has the
 * port. One at another address may be so too, if the address has changed, and is announced for as
 * long as its session lasts.
 */
final class Namesakes {
    /** ZooKeeper's session, and what it may take to notice its end. */
    static final Duration PATIENCE = Duration.ofSeconds(10);

    private static final long LOOK_AGAIN_NS = 100_000_000L;

    private record Own(Role role, String what, String id, HostPort address, String key) {}

    private Namesakes() {}

    /** Returns once there is none; fails when one is still announced after the patience. */
    static void refuse(List<ServerConfig> configs, Discovery discovery, Duration patience)
            throws Failure {
        long endNs = System.nanoTime() + patience.toNanos();
        for (Own own : owned(configs)) {
            Member other = namesake(own, discovery);
            while (other != null && System.nanoTime() - endNs < 0) {
                LockSupport.parkNanos(LOOK_AGAIN_NS);
                other = namesake(own, discovery);
            }
            if (other != null) {
                throw new Failure(
                        ExitCode.CONFIG,
                        "%s %s lives at %s already: end that one, or change the key '%s'"
                                .formatted(own.what, own.id, other.address(), own.key));
            }
        }
    }

    private static List<Own> owned(List<ServerConfig> configs) {
        List<Own> all = new ArrayList<>();
        for (ServerConfig config : configs) {
            if (config.roles().replica().isPresent()) {
                int id = config.roles().replica().get().id();
                all.add(
                        new Own(
                                Role.REPLICA,
                                "replica",
                                Integer.toString(id),
                                config.topology().replica(id).rpc(),
                                "roles.replica.id"));
            }
            for (StorageRole node : config.roles().storage()) {
                all.add(
                        new Own(
                                Role.STORAGE,
                                "storage node",
                                node.id(),
                                new HostPort(config.advertise(), node.port()),
                                "roles.storage.id"));
            }
            for (CacheRole cache : config.roles().cache().stream().toList()) {
                all.add(
                        new Own(
                                Role.CACHE,
                                "the cache of",
                                config.name(),
                                new HostPort(config.advertise(), cache.port()),
                                "name"));
            }
        }
        return all;
    }

    private static @Nullable Member namesake(Own own, Discovery discovery) {
        for (Member member : discovery.members(own.role)) {
            if (member.id().equals(own.id) && !own.address.equals(member.address())) {
                return member;
            }
        }
        return null;
    }
}

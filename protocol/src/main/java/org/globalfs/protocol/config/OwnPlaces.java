package org.globalfs.protocol.config;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;

/**
 * Ports and folders of one server's roles, none of which may have another's: a start would tell of
 * a busy port only, or of a folder in use.
 */
final class OwnPlaces {
    private final Yaml yaml;
    private final Map<Integer, String> ports = new HashMap<>();
    private final Map<Path, String> folders = new HashMap<>();

    private OwnPlaces(Yaml yaml) {
        this.yaml = yaml;
    }

    static void check(Yaml yaml, Roles roles, Topology topology) throws ConfigException {
        OwnPlaces places = new OwnPlaces(yaml);
        if (roles.replica().isPresent()) {
            Topology.ReplicaSite own = topology.replica(roles.replica().get().id());
            places.port("the address 'ring' of replica " + own.id(), own.ring().port());
            places.port("the address 'rpc' of replica " + own.id(), own.rpc().port());
        }
        if (roles.zookeeper().isPresent()) {
            places.port("roles.zookeeper.port", roles.zookeeper().get().port());
        }
        if (roles.oracle().isPresent()) {
            places.port("roles.oracle.port", roles.oracle().get().port());
        }
        for (int i = 0; i < roles.storage().size(); i++) {
            Roles.StorageRole node = roles.storage().get(i);
            places.port("roles.storage[" + i + "].port", node.port());
            places.folder("roles.storage[" + i + "].data", node.data());
        }
        if (roles.cache().isPresent()) {
            places.port("roles.cache.port", roles.cache().get().port());
            places.folder("roles.cache.data", roles.cache().get().data());
        }
    }

    private void port(String key, int port) throws ConfigException {
        String other = ports.putIfAbsent(port, key);
        if (other != null) {
            throw yaml.error(key, port + " is the port of " + other + " too: give each its own");
        }
    }

    private void folder(String key, Path folder) throws ConfigException {
        String other = folders.putIfAbsent(folder.toAbsolutePath().normalize(), key);
        if (other != null) {
            throw yaml.error(
                    key, folder + " is the folder of " + other + " too: give each its own");
        }
    }
}

package org.globalfs.protocol.config;

import java.nio.file.Path;

/**
 * One client: the cluster to reach, where it stands, and how its mount behaves.
 *
 * @param datacenter empty when unknown; then every replica of the region is equally near
 * @param blocks where the content of files is
 */
public record ClientConfig(
        String cluster,
        String zookeeper,
        String region,
        String datacenter,
        Mount mount,
        BlockStorage blocks) {

    /**
     * How a mount behaves.
     *
     * @param inlineMaxBytes content up to this size is kept beside the metadata, without a block
     * @param cacheBytes memory for file content
     * @param requestTimeoutMs after this long without an answer a request fails with EIO
     * @param threads kernel requests served at once
     * @param allowOther users other than the mounting one may use the mount
     * @param sync every write is durable before it returns
     * @param readOnly nothing can be changed through this mount
     * @param sessionLeaseMs locks and unlinked open files outlive a client that has died, or is cut
     *     off, by so long
     * @param slowOperationMs an operation that took longer is logged; 0: none is
     * @param setId set-id bits of programs count (only root can mount so)
     * @param devices device nodes work (only root can mount so)
     */
    public record Mount(
            int inlineMaxBytes,
            long cacheBytes,
            long requestTimeoutMs,
            int threads,
            boolean allowOther,
            boolean sync,
            boolean readOnly,
            long sessionLeaseMs,
            long slowOperationMs,
            boolean setId,
            boolean devices) {}

    /** Content above this never travels inside a metadata command: replicas refuse it. */
    public static final int INLINE_MAX_BYTES = 64 << 10;

    private static final long DAY_MS = 24 * 3_600_000L;

    /** Below it hardly any operation ends in time, and each that does not is EIO. */
    private static final long SHORTEST_TIMEOUT_MS = 1_000;

    private static final long SHORTEST_LEASE_MS = 3_000;
    private static final long LONGEST_LEASE_MS = 600_000;

    public static final Mount DEFAULT_MOUNT =
            new Mount(
                    16 << 10,
                    128L << 20,
                    60_000,
                    4,
                    false,
                    false,
                    false,
                    60_000,
                    1_000,
                    false,
                    false);

    public static ClientConfig read(Path file) throws ConfigException {
        Yaml yaml = Yaml.read(file);
        String cluster = ServerConfig.name(yaml, "cluster");
        String zookeeper = yaml.text("zookeeper");
        String region = ServerConfig.name(yaml, "region");
        String datacenter = yaml.has("datacenter") ? ServerConfig.name(yaml, "datacenter") : "";
        Mount mount = DEFAULT_MOUNT;
        if (yaml.has("mount")) {
            Yaml options = yaml.mapping("mount");
            mount =
                    new Mount(
                            inlineMax(options),
                            options.sizeBytes("cache", DEFAULT_MOUNT.cacheBytes),
                            options.durationMs(
                                    "requestTimeout",
                                    SHORTEST_TIMEOUT_MS,
                                    DAY_MS,
                                    DEFAULT_MOUNT.requestTimeoutMs),
                            (int) options.integer("threads", 1, 64, DEFAULT_MOUNT.threads),
                            options.flag("allowOther", DEFAULT_MOUNT.allowOther),
                            options.flag("sync", DEFAULT_MOUNT.sync),
                            options.flag("readOnly", DEFAULT_MOUNT.readOnly),
                            sessionLease(options),
                            options.durationMs(
                                    "slowOperation", 0, DAY_MS, DEFAULT_MOUNT.slowOperationMs),
                            options.flag("setId", DEFAULT_MOUNT.setId),
                            options.flag("devices", DEFAULT_MOUNT.devices));
            options.finish();
        }
        BlockStorage blocks = BlockStorage.read(yaml);
        yaml.finish();
        return new ClientConfig(cluster, zookeeper, region, datacenter, mount, blocks);
    }

    private static long sessionLease(Yaml options) throws ConfigException {
        long ms = options.durationMs("sessionLease", DEFAULT_MOUNT.sessionLeaseMs);
        if (ms < SHORTEST_LEASE_MS || ms > LONGEST_LEASE_MS) {
            throw options.error(
                    "sessionLease",
                    ms + " ms: choose from 3s, below which it runs out unasked, to 10min");
        }
        return ms;
    }

    /** The same, with {@link Mount#sync} and {@link Mount#requestTimeoutMs} as given. */
    public ClientConfig with(boolean sync, long requestTimeoutMs) {
        Mount changed =
                new Mount(
                        mount.inlineMaxBytes,
                        mount.cacheBytes,
                        requestTimeoutMs,
                        mount.threads,
                        mount.allowOther,
                        sync,
                        mount.readOnly,
                        mount.sessionLeaseMs,
                        mount.slowOperationMs,
                        mount.setId,
                        mount.devices);
        return new ClientConfig(cluster, zookeeper, region, datacenter, changed, blocks);
    }

    private static int inlineMax(Yaml options) throws ConfigException {
        long bytes = options.sizeBytes("inlineMax", DEFAULT_MOUNT.inlineMaxBytes);
        if (bytes > INLINE_MAX_BYTES) {
            throw options.error("inlineMax", bytes + " bytes is more than 64KiB: choose less");
        }
        return (int) bytes;
    }
}

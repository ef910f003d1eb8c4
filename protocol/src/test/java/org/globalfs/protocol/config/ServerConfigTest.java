package org.globalfs.protocol.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.globalfs.protocol.DiskReserve;
import org.globalfs.protocol.Dissemination;
import org.globalfs.protocol.HostPort;
import org.globalfs.protocol.config.Roles.CacheRole;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ServerConfigTest {
    private static final String GOOD =
            """
            cluster: demo
            zookeeper: 127.0.0.1:2181
            region: us-west
            datacenter: a
            data: data/us-west-a
            durability: disk
            rings:
              dissemination:
                global: ring
            roles:
              replica:
                id: 1
                reserve: 300MiB
              oracle:
                port: 7301
              storage:
                - id: s1
                  port: 7401
                - id: s2
                  port: 7402
                  data: /srv/s2
                  capacity: 2GiB
                  reserve: 500MiB
                  scrubPeriod: 24h
                  scrubBandwidth: 8MiB
                  repairGrace: 30s
                  repairBandwidth: 16MiB
                  compactionBandwidth: 4MiB
                  weight: 2.5
              cache:
                port: 7451
                capacity: 10GiB
                period: 20s
                fetchBandwidth: 5MiB
            topology:
              - region: us-west
                partition: 1
                replicas:
                  - id: 1
                    datacenter: a
                    ring: 127.0.0.1:7101
                    rpc: 127.0.0.1:7201
                  - id: 2
                    datacenter: b
                    ring: 127.0.0.1:7102
                    rpc: 127.0.0.1:7202
              - region: eu-west
                partition: 3
                replicas:
                  - {id: 7, datacenter: a, ring: "127.0.0.1:7107", rpc: "127.0.0.1:7207"}
            """;

    @TempDir Path folder;

    @Test
    void anAddressOfIPv6MayBeInBrackets() throws Exception {
        ServerConfig config =
                read(GOOD.replace("durability: disk", "bind: '::'\nadvertise: '[fd00::7]'"));
        assertThat(config.bind()).isEqualTo("::");
        assertThat(new HostPort(config.advertise(), 7)).hasToString("[fd00::7]:7");
    }

    @Test
    void readsEveryKey() throws Exception {
        ServerConfig config = read(GOOD);
        assertThat(config.name()).isEqualTo("us-west-a");
        assertThat(config.bind()).isEqualTo("127.0.0.1");
        assertThat(config.partition()).isEqualTo(1);
        assertThat(config.rings().dissemination(0)).isEqualTo(Dissemination.RING);
        assertThat(config.rings().dissemination(1)).isEqualTo(Dissemination.STAR);
        assertThat(config.data()).isEqualTo(folder.resolve("data/us-west-a"));
        assertThat(config.roles().replica().orElseThrow().id()).isEqualTo(1);
        assertThat(config.roles().storage().get(0).data())
                .isEqualTo(folder.resolve("data/us-west-a/storage/s1"));
        assertThat(config.roles().storage().get(1).capacityBytes()).isEqualTo(2L << 30);
        assertThat(config.roles().replica().orElseThrow().reserve())
                .isEqualTo(DiskReserve.exactly(300 << 20));
        assertThat(config.roles().storage().get(0).reserve())
                .isEqualTo(Roles.StorageRole.DEFAULT_RESERVE);
        assertThat(config.roles().storage().get(1).reserve())
                .isEqualTo(DiskReserve.exactly(500 << 20));
        assertThat(config.roles().storage().get(0).scrubPeriodMs()).isEqualTo(168 * 3_600_000L);
        assertThat(config.roles().storage().get(1).scrubPeriodMs()).isEqualTo(24 * 3_600_000L);
        assertThat(config.roles().storage().get(0).repairGraceMs()).isEqualTo(600_000);
        assertThat(config.roles().storage().get(1).repairGraceMs()).isEqualTo(30_000);
        assertThat(config.roles().storage().get(1).repairBytesPerSecond()).isEqualTo(16 << 20);
        assertThat(config.roles().storage().get(0).compactionBytesPerSecond()).isEqualTo(64 << 20);
        assertThat(config.roles().storage().get(1).compactionBytesPerSecond()).isEqualTo(4 << 20);
        assertThat(config.roles().storage().get(0).weight()).isEqualTo(1);
        assertThat(config.roles().storage().get(1).weight()).isEqualTo(2.5);
        assertThat(config.roles().storage().get(1).scrubBytesPerSecond()).isEqualTo(8L << 20);
        CacheRole cache = config.roles().cache().orElseThrow();
        assertThat(cache.port()).isEqualTo(7451);
        assertThat(cache.capacityBytes()).isEqualTo(10L << 30);
        assertThat(cache.data()).isEqualTo(config.data().resolve("cache"));
        assertThat(cache.periodMs()).isEqualTo(20_000);
        assertThat(cache.fetchBytesPerSecond()).isEqualTo(5 << 20);
        assertThat(cache.policy()).isEqualTo(CachePolicyKind.AGAR);
        assertThat(cache.reserve()).isEqualTo(CacheRole.DEFAULT_RESERVE);
        assertThat(config.topology().members(0)).containsExactly(1, 2, 7);
        assertThat(config.topology().members(1)).containsExactly(1, 2);
        assertThat(config.topology().regionOf(7).name()).isEqualTo("eu-west");
        assertThat(config.topology().replica(7).rpc()).isEqualTo(new HostPort("127.0.0.1", 7207));
    }

    @Test
    void aProcessThatOnlyHostsZooKeeperNeedsNoPlace() throws Exception {
        ServerConfig config =
                read(
                        "cluster: c\nzookeeper: 127.0.0.1:1\ndata: d\nroles:\n  zookeeper: {port: 1}\n");
        assertThat(config.roles().zookeeper().orElseThrow().port()).isEqualTo(1);
        assertThat(config.rings()).isEqualTo(Rings.DEFAULTS);
        assertThat(config.name()).isEqualTo("zookeeper");
    }

    /** Each row: text of the good file, what replaces it, and what the error must say. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "cluster: demo | clutser: demo | cluster: is missing: add it",
                "durability: disk | durabilty: disk | durabilty: unknown key: did you mean 'durability'?",
                "durability: disk | colour: red | colour: unknown key: remove it; known here: advertise",
                "durability: disk | durability: maybe | durability: 'maybe' is not one of disk, memory",
                "global: ring | global: tree | rings.dissemination.global: 'tree' is not one of star, ring",
                "global: ring | local: ring | rings.dissemination.local: unknown key",
                "dissemination: | disemination: | rings.disemination: unknown key: did you mean 'dissemination'?",
                "durability: disk | durability: | durability: has no value",
                "durability: disk | region: x | region: is given twice: keep one",
                "region: us-west | region: mars | 'mars' is not in the topology (us-west, eu-west)",
                "region: us-west | region: us/west | 'us/west' is not a name",
                "datacenter: a | datacenter: q | 'q' but the topology puts replica 1 in a",
                "port: 7301 | port: 70000 | roles.oracle.port: 70000 is not between 1 and 65535",
                "port: 7301 | port: seven | roles.oracle.port: 'seven' is not a whole number",
                "port: 7301 | port: [1] | roles.oracle.port: must be a single value",
                "port: 7301 | prot: 7301 | roles.oracle.port: is missing",
                "capacity: 2GiB | capacity: 2 gigs | roles.storage[1].capacity: '2 gigs' is not a size",
                "capacity: 2GiB | capacity: 5 | roles.storage[1].capacity: is 5 bytes, and a storage node needs 64MiB",
                "capacity: 2GiB | capacity: 63MiB | roles.storage[1].capacity: is 66060288 bytes",
                "reserve: 300MiB | reserve: 5% | roles.replica.reserve: '5%' is not a size",
                "compactionBandwidth: 4MiB | compactionBandwidth: 0 | roles.storage[1].compactionBandwidth: is 0 bytes a second, and what is deleted would fill the disk: give 1MiB at least",
                "period: 20s | period: 0s | roles.cache.period: is 0: give more, or remove the role",
                "capacity: 10GiB | capacity: 0 | roles.cache.capacity: is 0",
                "period: 20s | policy: best | roles.cache.policy: 'best' is not one of agar, lru, lfu, tiny_lfu",
                "period: 20s | chunks: 3 | roles.cache.chunks: is for the policies lru, lfu and tiny_lfu",
                "id: s2 | id: s1 | roles.storage[1].id: 's1' is another storage node's",
                "partition: 3 | partition: 1 | topology[1].partition: 1 is another region's",
                "127.0.0.1:7202 | 127.0.0.1:7201 | topology[0].replicas[1].rpc: 127.0.0.1:7201 is used twice",
                "port: 7301 | port: 7201 | roles.oracle.port: 7201 is the port of the address 'rpc' of replica 1 too",
                "port: 7402 | port: 7301 | roles.storage[1].port: 7301 is the port of roles.oracle.port too",
                "port: 7451 | port: 7101 | roles.cache.port: 7101 is the port of the address 'ring' of replica 1 too",
                "/srv/s2 | data/us-west-a/storage/s1 | roles.storage[1].data: ",
                "127.0.0.1:7202 | localhost | topology[0].replicas[1].rpc: 'localhost' is not HOST:PORT",
                "durability: disk | bind: 0.0.0.0 | advertise: others cannot reach 0.0.0.0",
                "durability: disk | bind: '0::0' | advertise: others cannot reach 0::0",
                "127.0.0.1:7202 | eu1:7202 | advertise: others, such as replica 2 at eu1:7202, cannot reach 127.0.0.1",
                "durability: disk | bind: '[]' | bind: '[]' is no host",
                "durability: disk | bind: 10.0.0.1:7000 | bind: '10.0.0.1:7000' is no host: write its name",
                "durability: disk | bind: '0:0::0' | advertise: others cannot reach 0:0::0",
                "127.0.0.1:7202 | 0.0.0.0:7202 | topology[0].replicas[1].rpc: others cannot reach 0.0.0.0:7202",
                "127.0.0.1:7202 | 127.0.0.1:0 | topology[0].replicas[1].rpc: others cannot reach 127.0.0.1:0",
                "/srv/s2 | \"/srv/\\\\0s2\" | roles.storage[1].data: is not a path: Nul character",
            })
    void namesFileKeyAndRemedy(String from, String to, String says) {
        assertThat(GOOD).contains(from);
        assertThatThrownBy(() -> read(GOOD.replaceFirst(from, to)))
                .isInstanceOf(ConfigException.class)
                .hasMessageContaining("server.yaml:")
                .hasMessageContaining(says);
    }

    @Test
    void aServerOfAnS3ClusterHasABucketForEachRegionAndNoStorageNode() throws Exception {
        String s3 =
                """
                blocks:
                  store: s3
                  s3:
                    - {region: us-west, bucket: west, awsRegion: us-west-1}
                    - {region: eu-west, bucket: europe, awsRegion: eu-west-1}
                """;
        String placed = GOOD.replaceFirst("(?s)  storage:.*topology:", "topology:");
        assertThat(read(placed + s3).blocks().buckets()).hasSize(2);
        String withCache = placed.replace("topology:", "  cache: {port: 7}\ntopology:");
        assertThat(read(withCache + s3).roles().cache()).isPresent();
        assertThatThrownBy(() -> read(GOOD + s3))
                .hasMessageContaining("roles.storage: is for 'blocks.store: dht'");
        assertThatThrownBy(() -> read(placed + s3.replaceFirst("    - .region: eu.*\n", "")))
                .hasMessageContaining("has no bucket for region 'eu-west'");
        assertThatThrownBy(() ->
                        read(placed + s3 + "    - {region: mars, bucket: mars, awsRegion: m}\n"))
                .hasMessageContaining("region 'mars' is not in the topology");
    }

    @Test
    void aMissingFileAndOneThatIsNoMappingAreRefused() {
        assertThatThrownBy(() -> ServerConfig.read(folder.resolve("none.yaml")))
                .isInstanceOf(ConfigException.class)
                .hasMessageContaining("none.yaml: no such file");
        assertThatThrownBy(() -> read("- a\n- b\n")).hasMessageContaining("must be a mapping");
        assertThatThrownBy(() -> read("")).hasMessageContaining("must be a mapping");
        assertThatThrownBy(() -> read("a: [")).hasMessageContaining("not valid YAML");
    }

    @Test
    void aClientIsReadWithItsMountOptions() throws Exception {
        Path file = folder.resolve("client.yaml");
        Files.writeString(
                file,
                """
                cluster: demo
                zookeeper: 127.0.0.1:2181
                region: us-west
                mount:
                  cache: 64MiB
                  requestTimeout: 30s
                  sync: true
                """);
        ClientConfig config = ClientConfig.read(file);
        assertThat(config.mount().cacheBytes()).isEqualTo(64L << 20);
        assertThat(config.mount().requestTimeoutMs()).isEqualTo(30_000);
        assertThat(config.mount().sync()).isTrue();
        assertThat(config.mount().threads()).isEqualTo(ClientConfig.DEFAULT_MOUNT.threads());
        Files.writeString(file, Files.readString(file).replace("sync: true", "sync: yes"));
        assertThatThrownBy(() -> ClientConfig.read(file))
                .hasMessageContaining("client.yaml:7: mount.sync: 'yes' is neither true nor false");
    }

    /** Each row: what is said below 'mount:', and of what the error must speak, with its line. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "requestTimeout: 0s | mount.requestTimeout: is not between 1s and 24h",
                "requestTimeout: 1ms | mount.requestTimeout: is not between 1s and 24h",
                "requestTimeout: 25h | mount.requestTimeout: is not between 1s and 24h",
                "requestTimeout: 3000000h | mount.requestTimeout: is more than 876000h",
                "slowOperation: 3000000h | mount.slowOperation: is more than 876000h",
                "slowOperation: 25h | mount.slowOperation: is not between 0s and 24h",
                "sessionLease: 1s | mount.sessionLease: 1000 ms: choose from 3s",
                "requestTimeout: 999999999999999h | mount.requestTimeout: '999999999999999h' is too large",
            })
    void aMountsDurationOutOfBounds(String says, String error) throws Exception {
        Path file = folder.resolve("client.yaml");
        Files.writeString(
                file,
                "cluster: demo\nzookeeper: 127.0.0.1:2181\nregion: us-west\nmount:\n  sync: true\n  "
                        + says
                        + "\n");
        assertThatThrownBy(() -> ClientConfig.read(file))
                .isInstanceOf(ConfigException.class)
                .hasMessageContaining("client.yaml:6: " + error);
    }

    private ServerConfig read(String text) throws ConfigException, IOException {
        Path file = folder.resolve("server.yaml");
        Files.writeString(file, text);
        return ServerConfig.read(file);
    }
}

package org.globalfs.protocol.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.URI;
import java.util.List;
import java.util.Optional;
import org.globalfs.protocol.HostPort;
import org.globalfs.protocol.discovery.InMemoryDiscovery;
import org.globalfs.protocol.discovery.RecordedStore;
import org.globalfs.protocol.discovery.StoreKind;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class BlockStorageTest {
    private static final String GOOD =
            """
            blocks:
              store: s3
              s3:
                - region: us-west
                  bucket: acme-west
                  awsRegion: us-west-2
                - region: eu-west
                  bucket: acme-europe
                  endpoint: https://s3.example.org:9000
            """;

    private static BlockStorage read(String text) throws ConfigException {
        return BlockStorage.read(Yaml.parse("server.yaml", text));
    }

    private static Topology topology(String... regions) {
        List<Topology.Region> list = new java.util.ArrayList<>();
        for (String region : regions) {
            int partition = list.size() + 1;
            HostPort address = new HostPort("127.0.0.1", 1000 + partition);
            list.add(
                    new Topology.Region(
                            region,
                            partition,
                            List.of(new Topology.ReplicaSite(partition, "a", address, address))));
        }
        return new Topology("demo", list);
    }

    @Test
    void readsBuckets() throws ConfigException {
        assertThat(read("cluster: demo\n")).isEqualTo(BlockStorage.STORAGE_NODES);
        assertThat(read("blocks: {store: dht}\n")).isEqualTo(BlockStorage.STORAGE_NODES);
        BlockStorage storage = read(GOOD);
        assertThat(storage.kind()).isEqualTo(StoreKind.S3);
        assertThat(storage.buckets())
                .containsExactly(
                        new S3Bucket("us-west", "acme-west", "us-west-2", Optional.empty(), false),
                        new S3Bucket(
                                "eu-west",
                                "acme-europe",
                                "us-east-1",
                                Optional.of(URI.create("https://s3.example.org:9000")),
                                true));
    }

    @Test
    void readsHowBucketsAreLookedAfter() throws ConfigException {
        assertThat(read(GOOD).upkeep())
                .isEqualTo(new S3Upkeep(86_400_000, 604_800_000, 32 << 20, 64 << 20));
        String said =
                GOOD
                        + "  checkPeriod: 2h\n"
                        + "  scrubPeriod: 0s\n"
                        + "  scrubBandwidth: 8MiB\n"
                        + "  repairBandwidth: 0\n";
        assertThat(read(said).upkeep()).isEqualTo(new S3Upkeep(7_200_000, 0, 8 << 20, 0));
        for (String key : List.of("checkPeriod", "scrubPeriod")) {
            assertThatThrownBy(() -> read(GOOD + "  " + key + ": 59s\n"))
                    .hasMessageContaining(
                            "blocks." + key + ": must be 0s, for never, or at least 1min");
        }
        assertThatThrownBy(() -> read(GOOD + "  scrubBandwidth: fast\n"))
                .hasMessageContaining("blocks.scrubBandwidth");
        assertThatThrownBy(() -> read("blocks: {scrubPeriod: 1h}\n"))
                .hasMessageContaining("blocks.scrubPeriod: goes with 'store: s3'");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '"',
            value = {
                "store: s3 | store: azure | 'azure' is not one of dht, s3",
                "store: s3 | store: dht | goes with 'store: s3'",
                "eu-west | us-west | 'us-west' is listed twice",
                "bucket: acme-west | bucket: Acme | 'Acme' is not a bucket's name",
                "bucket: acme-west | buckets: acme | blocks.s3[0].bucket: is missing",
                "awsRegion: us-west-2 | pathStyle: true | blocks.s3[0].awsRegion: is missing",
                "awsRegion: us-west-2 | awsRegion: US West | is not a region such as us-west-2",
                "awsRegion: us-west-2 | endpoint: s3.example.org | write https://HOST",
                "awsRegion: us-west-2 | endpoint: http://h/?q=1 | write https://HOST",
                "awsRegion: us-west-2 | endpoint: http://a b | write https://HOST",
                "awsRegion: us-west-2 | endpoint: http://h:99999 | write https://HOST",
                "awsRegion: us-west-2 | endpoint: http://h:0 | write https://HOST",
                "endpoint: https | awsRegoin: https | blocks.s3[1].awsRegion: is missing",
                "bucket: acme-europe | {bucket: e, x: 1} | not valid YAML",
            })
    void saysWhatIsWrong(String from, String to, String says) {
        assertThatThrownBy(() -> read(GOOD.replaceFirst(from, to)))
                .isInstanceOf(ConfigException.class)
                .hasMessageContaining("server.yaml:")
                .hasMessageContaining(says);
    }

    @Test
    void twoRegionsShareNoBucket() {
        assertThatThrownBy(() ->
                        read(
                                """
                                blocks:
                                  store: s3
                                  s3:
                                    - {region: a, bucket: one, awsRegion: x}
                                    - {region: b, bucket: one, awsRegion: y}
                                """))
                .hasMessageContaining("'one' is another region's");
        assertThatThrownBy(() -> read("blocks: {store: s3}\n"))
                .hasMessageContaining("blocks.s3: is missing or empty");
    }

    @Test
    void oneNodeMayBeLostAfterAWriteUnlessToldOtherwise() throws ConfigException {
        assertThat(BlockStorage.STORAGE_NODES.toleratedLosses()).isEqualTo(1);
        assertThat(read("blocks: {toleratedLosses: 3}\n").toleratedLosses()).isEqualTo(3);
        assertThatThrownBy(() -> read("blocks: {toleratedLosses: 0}\n"))
                .hasMessageContaining("blocks.toleratedLosses");
        assertThatThrownBy(() -> read(GOOD + "  toleratedLosses: 2\n"))
                .hasMessageContaining("blocks.toleratedLosses: goes with 'store: dht'");
    }

    @Test
    void theFirstServerRecordsAndAllOthersAgreeOrAreRefused() throws Exception {
        InMemoryDiscovery discovery = new InMemoryDiscovery();
        BlockStorage s3 = read(GOOD);
        assertThatThrownBy(() -> s3.recordedIn(discovery, "demo"))
                .hasMessageContaining("start its servers first");
        RecordedStore recorded = s3.recordIn(discovery, topology("us-west", "eu-west"), false);
        assertThat(recorded.buckets())
                .containsExactly(
                        new RecordedStore.Bucket("us-west", 1, "acme-west"),
                        new RecordedStore.Bucket("eu-west", 2, "acme-europe"));
        assertThat(s3.recordIn(discovery, topology("us-west", "eu-west"), false))
                .isEqualTo(recorded);
        assertThat(s3.recordedIn(discovery, "demo")).isEqualTo(recorded);
        assertThatThrownBy(() -> BlockStorage.STORAGE_NODES.recordedIn(discovery, "demo"))
                .isInstanceOf(ConfigException.class)
                .hasMessageContaining("demo keeps its blocks in 's3'")
                .hasMessageContaining("says 'dht'");
        assertThatThrownBy(() ->
                        BlockStorage.STORAGE_NODES.recordIn(discovery, topology("us-west"), true))
                .hasMessageContaining("demo keeps its blocks in 's3'");
        assertThatThrownBy(() ->
                        read(GOOD.replace("acme-west", "another")).recordedIn(discovery, "demo"))
                .hasMessageContaining("'acme-west'")
                .hasMessageContaining("'another'");
    }

    @Test
    void aRegionMayBeAddedButNoneLeftOut() throws Exception {
        InMemoryDiscovery discovery = new InMemoryDiscovery();
        BlockStorage one = new BlockStorage(StoreKind.S3, List.of(read(GOOD).buckets().getFirst()));
        one.recordIn(discovery, topology("us-west"), false);
        BlockStorage two = read(GOOD);
        assertThat(two.recordedIn(discovery, "demo").buckets()).hasSize(1);
        assertThat(two.recordIn(discovery, topology("us-west", "eu-west"), false).buckets())
                .hasSize(2);
        assertThatThrownBy(() -> one.recordedIn(discovery, "demo"))
                .hasMessageContaining("eu-west")
                .hasMessageContaining("add it to 'blocks.s3'");
    }

    @Test
    void aClusterThatHasStorageNodesKeepsThem() throws Exception {
        InMemoryDiscovery discovery = new InMemoryDiscovery();
        assertThatThrownBy(
                        () -> read(GOOD).recordIn(discovery, topology("us-west", "eu-west"), true))
                .hasMessageContaining("demo keeps its blocks in 'dht'");
        assertThat(BlockStorage.STORAGE_NODES.recordedIn(discovery, "demo").kind())
                .isEqualTo(StoreKind.DHT);
        assertThat(
                        BlockStorage.STORAGE_NODES
                                .recordIn(discovery, topology("us-west"), true)
                                .buckets())
                .isEmpty();
    }
}

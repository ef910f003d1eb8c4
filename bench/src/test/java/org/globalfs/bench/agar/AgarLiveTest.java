package org.globalfs.bench.agar;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.globalfs.bench.BenchFailure;
import org.globalfs.bench.lab.Wan;
import org.globalfs.protocol.config.CachePolicyKind;
import org.globalfs.protocol.config.Roles.CacheRole;
import org.globalfs.protocol.config.ServerConfig;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What of the live benchmark needs no lab. */
class AgarLiveTest {
    private static final LivePolicy LFU_5 = LivePolicy.parse("lfu-5");
    private static final LivePolicy LRU_9 = LivePolicy.parse("lru-9");

    @Test
    void everyPolicyIsAskedForTheSame() {
        Zipf zipf = new Zipf(Setting.OBJECTS, AgarBench.SKEW);
        int[] requests = zipf.requests(7, 2_000);
        assertThat(zipf.requests(7, 2_000)).isEqualTo(requests);
        assertThat(zipf.requests(7, 500)).isEqualTo(Arrays.copyOf(requests, 500));
        assertThat(zipf.requests(8, 2_000)).isNotEqualTo(requests);
        assertThat(Arrays.stream(requests).filter(block -> block == 0).count() / 2_000.0)
                .isCloseTo(zipf.shareOf(1), within(0.05));
    }

    @Test
    void policiesHaveNames() {
        assertThat(LivePolicy.all()).hasSize(12);
        for (LivePolicy policy : LivePolicy.all()) {
            assertThat(LivePolicy.parse(policy.toString())).isEqualTo(policy);
        }
        assertThat(LivePolicy.parse("tiny_lfu-3"))
                .isEqualTo(new LivePolicy(CachePolicyKind.TINY_LFU, 3));
        for (String wrong : List.of("agar-3", "lfu", "lfu-0", "fifo-2", "-", "")) {
            assertThatThrownBy(() -> LivePolicy.parse(wrong)).isInstanceOf(BenchFailure.class);
        }
    }

    private static LiveTable.Row row(double megabytes, LivePolicy policy, double averageMs) {
        return row(megabytes, policy, averageMs, 0.2);
    }

    private static LiveTable.Row row(
            double megabytes, LivePolicy policy, double averageMs, double lateMs) {
        return new LiveTable.Row(
                megabytes,
                policy,
                new Reading(100, 100 * averageMs, 100, 40, 10, 2_000_000, 3_000_000, 0),
                lateMs);
    }

    @Test
    void agarIsComparedWithTheBestOtherOfItsSize() {
        LiveTable table = new LiveTable();
        table.add(row(0, LivePolicy.NONE, 340));
        table.add(row(10, LivePolicy.AGAR, 100));
        table.add(row(10, LRU_9, 200));
        table.add(row(10, LFU_5, 110));
        table.add(row(20, LFU_5, 50));
        table.add(row(10, LivePolicy.AGAR, 80));
        table.add(row(10, LFU_5, 130));
        assertThat(table.gain(10))
                .hasValueSatisfying(gain -> assertThat(gain).isCloseTo(0.25, within(1e-9)));
        assertThat(table.gain(20)).isEmpty();
        assertThat(table.lines())
                .contains(
                        "| 10.0 MB | agar | 90.0 | 40.0 % | 10.0 % | 4 | 0.20 ms |",
                        "10.0 MB: Agar gains 25.0 % over lfu-5");
    }

    @Test
    void latePacketsVoidWhatTheyWereMeasuredWith() {
        LiveTable table = new LiveTable();
        table.add(row(10, LivePolicy.AGAR, 100));
        table.add(row(10, LFU_5, 110, 1.5));
        assertThat(table.gain(10)).isEmpty();
        assertThat(table.lines())
                .anyMatch(line -> line.contains("1.50 ms: void"))
                .anyMatch(line -> line.contains("no gain is given"));
    }

    @Test
    void readingsTravelAsALine() {
        Reading reading = new Reading(10, 123.25, 9, 8, 7, 6, 5, 4);
        assertThat(Reading.parse(reading.line())).isEqualTo(reading);
    }

    @Test
    void serversTakeTheirConfiguration(@TempDir Path folder) throws Exception {
        List<Wan.Region> regions = new ArrayList<>();
        for (int region = 0; region <= Setting.REGIONS.size(); region++) {
            InetAddress address = InetAddress.ofLiteral("10.77." + (region + 1) + ".1");
            regions.add(new Wan.Region("r" + region, address, "n" + region));
        }
        Path file = folder.resolve("server.yaml");
        for (int region = 0; region < Setting.REGIONS.size(); region++) {
            Files.writeString(file, LiveConfig.storage(region, regions, folder));
            ServerConfig server = ServerConfig.read(file);
            assertThat(server.roles().storage()).hasSize(2);
            assertThat(server.roles().zookeeper().isPresent()).isEqualTo(region == 0);
        }
        Files.writeString(
                file, LiveConfig.cache(CachePolicyKind.LFU, 5, 10, 3_000, regions, folder));
        CacheRole cache = ServerConfig.read(file).roles().cache().orElseThrow();
        assertThat(cache.policy()).isEqualTo(CachePolicyKind.LFU);
        assertThat(cache.chunks()).isEqualTo(5);
        assertThat(cache.periodMs()).isEqualTo(3_000);
        // As many chunks as in the simulation, with what is kept beside each on disk.
        assertThat(cache.capacityBytes() / 90.0).isBetween(111_112.0, 116_000.0);
    }
}

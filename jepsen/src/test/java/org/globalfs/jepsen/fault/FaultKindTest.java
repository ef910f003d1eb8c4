package org.globalfs.jepsen.fault;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.regex.Pattern;
import org.globalfs.jepsen.cluster.Clocks;
import org.globalfs.jepsen.cluster.Disks;
import org.globalfs.jepsen.cluster.Surroundings;
import org.globalfs.jepsen.cluster.TestedCluster;
import org.globalfs.jepsen.cluster.WanLab;
import org.junit.jupiter.api.Test;

/** Which clients can go on with which partition during a fault. */
class FaultKindTest {
    private final Path none = Path.of("none");
    private final TestedCluster cluster =
            new TestedCluster(
                    List.of(),
                    none,
                    new Surroundings(
                            Optional.of(
                                    new WanLab(
                                            Path.of(".."),
                                            TestedCluster.REGIONS,
                                            TestedCluster.regionsOfServers())),
                            Optional.of(new Disks(none, none, List.of())),
                            Optional.of(new Clocks(none, none, List.of()))));

    private Fault fault(FaultKind kind) {
        return kind.on(cluster, new Random(1));
    }

    private static String regionOf(Fault fault) {
        return TestedCluster.REGIONS.stream()
                .filter(fault.target()::contains)
                .findFirst()
                .orElseThrow();
    }

    private static List<String> others(String region) {
        return TestedCluster.REGIONS.stream().filter(r -> !r.equals(region)).toList();
    }

    @Test
    void aServerOfThreeIsNotMissed() {
        for (FaultKind kind :
                List.of(
                        FaultKind.KILL_SERVER,
                        FaultKind.PAUSE_SERVER,
                        FaultKind.RESTART_LOOP,
                        FaultKind.TRUNCATE_CHUNKS,
                        FaultKind.KILL_COORDINATOR,
                        FaultKind.PAUSE_COORDINATOR)) {
            Fault fault = fault(kind);
            for (String client : TestedCluster.REGIONS) {
                assertThat(fault.spares(client, FaultKind.GLOBAL)).isTrue();
                assertThat(fault.spares(client, regionOf(fault))).isTrue();
            }
        }
    }

    @Test
    void aMajorityIsMissedInItsRegionOnly() {
        for (FaultKind kind : List.of(FaultKind.KILL_MAJORITY, FaultKind.KILL_REGION)) {
            Fault fault = fault(kind);
            String region = regionOf(fault);
            for (String client : TestedCluster.REGIONS) {
                assertThat(fault.spares(client, region)).isFalse();
                assertThat(fault.spares(client, others(region).getFirst())).isTrue();
                assertThat(fault.spares(client, FaultKind.GLOBAL)).isTrue();
            }
        }
    }

    @Test
    void nodesDieInEachRegionAndNobodyIsMissed() {
        Set<String> seen = new HashSet<>();
        for (int seed = 0; seed < 50; seed++) {
            Fault fault = FaultKind.KILL_NODES.on(cluster, new Random(seed));
            List<String> dead = List.of(fault.target().split(" "));
            seen.addAll(dead);
            assertThat(dead).hasSize(TestedCluster.REGIONS.size());
            for (String region : TestedCluster.REGIONS) {
                assertThat(dead).anyMatch(TestedCluster.servers(region)::contains);
                for (String client : TestedCluster.REGIONS) {
                    assertThat(fault.spares(client, region)).isTrue();
                    assertThat(fault.spares(client, FaultKind.GLOBAL)).isTrue();
                }
            }
        }
        assertThat(seen).hasSameElementsAs(TestedCluster.allServers());
    }

    @Test
    void twoNodesOfDifferentDatacentersDieAndAllReplicasLive() {
        Set<String> seen = new HashSet<>();
        for (int seed = 0; seed < 50; seed++) {
            Fault fault = FaultKind.KILL_TWO.on(cluster, new Random(seed));
            List<String> dead = List.of(fault.target().split(" "));
            seen.addAll(dead);
            assertThat(dead).hasSize(2).doesNotHaveDuplicates();
            for (String client : TestedCluster.REGIONS) {
                assertThat(fault.spares(client, regionOf(fault))).isTrue();
                assertThat(fault.writable(client, regionOf(fault))).isTrue();
                assertThat(fault.writable(client, FaultKind.GLOBAL)).isTrue();
            }
        }
        assertThat(seen).hasSameElementsAs(TestedCluster.storageProcesses());
    }

    @Test
    void whatTakesContentAwayFindsItWhole() {
        assertThat(FaultKind.all().stream().filter(kind -> fault(kind) instanceof OnWholeContent))
                .containsExactlyInAnyOrder(
                        FaultKind.KILL_NODES,
                        FaultKind.KILL_TWO,
                        FaultKind.KILL_REGION,
                        FaultKind.RESTART_LOOP,
                        FaultKind.DAMAGE_CHUNKS,
                        FaultKind.TRUNCATE_CHUNKS);
    }

    @Test
    void cachesAndSlowDisksTakeNoContentAway() {
        for (FaultKind kind :
                List.of(
                        FaultKind.KILL_CACHE,
                        FaultKind.PAUSE_CACHE,
                        FaultKind.FILL_CACHE,
                        FaultKind.DAMAGE_CACHE,
                        FaultKind.SLOW_DISK)) {
            Fault fault = fault(kind);
            for (String client : TestedCluster.REGIONS) {
                assertThat(fault.readable(client, regionOf(fault))).isTrue();
                assertThat(fault.readable(client, FaultKind.GLOBAL)).isTrue();
                assertThat(fault.writable(client, regionOf(fault))).isTrue();
            }
        }
        // what an earlier fault took may lack still, and this one takes more
        assertThat(fault(FaultKind.KILL_SERVER).readable("us-west", FaultKind.GLOBAL)).isFalse();
    }

    @Test
    void contentCanBeWrittenWhileNodesEnoughAreUp() {
        for (FaultKind kind :
                List.of(
                        FaultKind.KILL_SERVER,
                        FaultKind.KILL_NODES,
                        FaultKind.RESTART_LOOP,
                        FaultKind.CUT_POWER,
                        FaultKind.DAMAGE_CHUNKS)) {
            for (String client : TestedCluster.REGIONS) {
                assertThat(fault(kind).writable(client, FaultKind.GLOBAL)).isTrue();
                assertThat(fault(kind).writable(client, "us-west")).isTrue();
            }
        }
        Fault fault = fault(FaultKind.KILL_REGION);
        String dead = regionOf(fault);
        assertThat(fault.writable(dead, dead)).isFalse();
        assertThat(fault.writable(dead, others(dead).getFirst())).isTrue();
        assertThat(fault.writable(dead, FaultKind.GLOBAL)).isTrue();
    }

    @Test
    void nobodyHasToWriteWhereWritesAreRefusedByRight() {
        for (FaultKind kind :
                List.of(FaultKind.FILL_REGION, FaultKind.ISOLATE, FaultKind.CUT_ALL_POWER)) {
            for (String client : TestedCluster.REGIONS) {
                assertThat(fault(kind).writable(client, client)).isFalse();
                assertThat(fault(kind).writable(client, FaultKind.GLOBAL)).isFalse();
            }
        }
    }

    @Test
    void aMountIsMissedByItsClients() {
        Fault fault = fault(FaultKind.KILL_MOUNT);
        String region = regionOf(fault);
        assertThat(fault.spares(region, region)).isFalse();
        assertThat(fault.spares(others(region).getFirst(), region)).isTrue();
    }

    @Test
    void aCacheIsNotMissedAndOfTheRegionThatChanceWants() {
        Set<String> seen = new HashSet<>();
        for (int seed = 0; seed < 50; seed++) {
            for (FaultKind kind :
                    List.of(
                            FaultKind.KILL_CACHE,
                            FaultKind.PAUSE_CACHE,
                            FaultKind.FILL_CACHE,
                            FaultKind.DAMAGE_CACHE)) {
                Fault fault = kind.on(cluster, new Random(seed));
                seen.add(fault.target());
                assertThat(fault.spares(regionOf(fault), regionOf(fault))).isTrue();
                assertThat(fault.spares(regionOf(fault), FaultKind.GLOBAL)).isTrue();
            }
        }
        assertThat(seen).containsOnly("us-west-cache", "us-east-cache", "eu-west-cache");
    }

    @Test
    void nothingGoesOnWhileEverythingIsDead() {
        Fault fault = fault(FaultKind.KILL_ALL);
        assertThat(fault.target()).isEqualTo("everything");
        assertThat(fault.spares("us-west", "us-west")).isFalse();
        assertThat(fault.spares("us-west", FaultKind.GLOBAL)).isFalse();
    }

    @Test
    void withoutPowerAServerIsDead() {
        Fault one = fault(FaultKind.CUT_POWER);
        assertThat(one.spares(regionOf(one), regionOf(one))).isTrue();
        Fault all = fault(FaultKind.CUT_ALL_POWER);
        assertThat(all.target().split(" ")).hasSize(9);
        assertThat(all.spares("us-west", "us-west")).isFalse();
    }

    @Test
    void fullDisksHinderTheirRegionOnlyTogether() {
        Fault one = fault(FaultKind.FILL_DISK);
        assertThat(one.spares(regionOf(one), regionOf(one))).isTrue();
        Fault region = fault(FaultKind.FILL_REGION);
        String full = regionOf(region);
        String other = others(full).getFirst();
        assertThat(region.spares(full, full)).isFalse();
        assertThat(region.spares(other, full)).isFalse();
        assertThat(region.spares(full, FaultKind.GLOBAL)).isFalse();
        assertThat(region.spares(other, other)).isTrue();
        assertThat(region.spares(other, FaultKind.GLOBAL)).isTrue();
    }

    @Test
    void anIsolatedRegionHasItsOwnPartition() {
        Fault fault = fault(FaultKind.ISOLATE);
        assertThat(((Netsplit) fault).cuts()).hasSize(4);
        String alone = ((Netsplit) fault).cuts().getFirst().from();
        List<String> others = others(alone);
        assertThat(fault.spares(alone, alone)).isTrue();
        assertThat(fault.spares(alone, FaultKind.GLOBAL)).isFalse();
        assertThat(fault.spares(alone, others.getFirst())).isFalse();
        assertThat(fault.spares(others.getFirst(), alone)).isFalse();
        assertThat(fault.spares(others.getFirst(), others.getLast())).isTrue();
        assertThat(fault.spares(others.getFirst(), FaultKind.GLOBAL)).isTrue();
    }

    @Test
    void aRingOfCutsLeavesRegionsToThemselves() {
        Fault fault = fault(FaultKind.CUT_RING);
        for (String client : TestedCluster.REGIONS) {
            assertThat(fault.spares(client, client)).isTrue();
            assertThat(fault.spares(client, others(client).getFirst())).isFalse();
            assertThat(fault.spares(client, FaultKind.GLOBAL)).isFalse();
        }
    }

    @Test
    void aBridgeLeavesTheGlobalPartitionToAll() {
        for (FaultKind kind : List.of(FaultKind.BRIDGE, FaultKind.CUT_ONE_WAY)) {
            Fault fault = fault(kind);
            Netsplit.Cut cut = ((Netsplit) fault).cuts().getFirst();
            String third =
                    others(cut.from()).stream()
                            .filter(r -> !r.equals(cut.to()))
                            .findAny()
                            .orElseThrow();
            assertThat(fault.spares(cut.from(), cut.to())).isFalse();
            assertThat(fault.spares(cut.to(), cut.from())).isFalse();
            assertThat(fault.spares(cut.from(), third)).isTrue();
            for (String client : TestedCluster.REGIONS) {
                assertThat(fault.spares(client, client)).isTrue();
                assertThat(fault.spares(client, FaultKind.GLOBAL)).isTrue();
            }
        }
    }

    @Test
    void coordinatorsOfAllPartitionsAreMet() {
        Random random = new Random(1);
        Set<String> partitions = new HashSet<>();
        for (int i = 0; i < 100; i++) {
            String target = FaultKind.KILL_COORDINATOR.on(cluster, random).target();
            partitions.add(target.replaceFirst(".* of ", ""));
        }
        assertThat(partitions)
                .containsAll(TestedCluster.REGIONS)
                .contains(FaultKind.GLOBAL)
                .hasSize(4);
    }

    @Test
    void wrongClocksStopNobody() {
        for (FaultKind kind : List.of(FaultKind.CLOCK_JUMP, FaultKind.CLOCK_STROBE)) {
            Fault fault = fault(kind);
            for (String client : TestedCluster.REGIONS) {
                assertThat(fault.spares(client, regionOf(fault))).isTrue();
                assertThat(fault.spares(client, FaultKind.GLOBAL)).isTrue();
            }
        }
    }

    @Test
    void clocksJumpBothWaysOfServersAndMounts() {
        Random random = new Random(1);
        Set<String> seen = new HashSet<>();
        for (int i = 0; i < 100; i++) {
            ClockJump jump = (ClockJump) FaultKind.CLOCK_JUMP.on(cluster, random);
            assertThat(jump.ahead().abs()).isBetween(Duration.ofSeconds(1), Duration.ofMinutes(10));
            String first = jump.processes().getFirst();
            boolean mount = first.startsWith("mount-");
            if (!mount) {
                assertThat(TestedCluster.servers(regionOf(jump))).containsAll(jump.processes());
            }
            String which = mount ? "a mount" : jump.processes().size() + " servers";
            seen.add(which + (jump.ahead().isNegative() ? " behind" : " ahead"));
        }
        assertThat(seen)
                .containsOnly(
                        "1 servers behind",
                        "1 servers ahead",
                        "3 servers behind",
                        "3 servers ahead",
                        "a mount behind",
                        "a mount ahead");
    }

    @Test
    void theDocumentListsAllAndTheirNumber() throws IOException {
        String text = Files.readString(Path.of("..", "docs", "reliability.md"));
        String faults = text.substring(text.indexOf("## Faults"));
        assertThat(faults).contains("There are " + FaultKind.all().size() + " kinds.");
        List<String> listed =
                faults.lines()
                        .dropWhile(line -> !line.startsWith("|---"))
                        .skip(1)
                        .takeWhile(line -> line.startsWith("| `"))
                        .flatMap(line ->
                                Pattern.compile("`([a-z-]+)`")
                                        .matcher(line.split("\\|")[1])
                                        .results())
                        .map(found -> found.group(1))
                        .toList();
        assertThat(listed)
                .containsExactlyInAnyOrderElementsOf(
                        FaultKind.all().stream().map(FaultKind::label).toList());
    }

    @Test
    void namesAreTheOptions() {
        for (FaultKind kind : FaultKind.all()) {
            assertThat(FaultKind.of(kind.label())).isEqualTo(kind);
            assertThat(fault(kind).name()).isEqualTo(kind.label());
        }
        assertThatThrownBy(() -> FaultKind.of("meteor"))
                .hasMessageContaining("no fault 'meteor'")
                .hasMessageContaining("kill-server");
    }
}

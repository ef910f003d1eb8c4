package org.globalfs.systemtests;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/** {@code scripts/wan-lab}: delays are what was set, cuts cut, and nothing stays behind. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class WanLabIT {
    private static final Duration LONG = Duration.ofMinutes(1);
    private static final Path WAN = Path.of("../scripts/wan-lab/wan").toAbsolutePath().normalize();
    private static final Pattern TIME = Pattern.compile("time=([0-9.]+) ms");

    /** Of this process alone: other labs on this machine are left in peace. */
    private static final String LAB = "t" + Long.toString(ProcessHandle.current().pid(), 36);

    @TempDir private static Path folder;

    @BeforeAll
    void up() throws IOException {
        assumeTrue(
                "root".equals(System.getProperty("user.name")),
                "SKIPPED: needs root to make network namespaces");
        assumeTrue(
                Files.exists(Path.of("/dev/net/tun")),
                "SKIPPED: no /dev/net/tun: load the module tun");
        assumeTrue(
                bash("command -v ip && command -v ping").ok(),
                "SKIPPED: no ip or ping: apt-get install iproute2 iputils-ping");
        Path config = folder.resolve("lab.conf");
        Files.writeString(
                config,
                """
                region west   # the middle
                region east
                region south
                rtt west east 30
                delay west south 5
                delay south west 25
                """);
        wan("up " + config).orFail();
    }

    @AfterAll
    void down() {
        Shell.Outcome outcome = wan("down");
        assertThat(outcome.exitCode()).as(outcome.output()).isZero();
        assertThat(namespaces()).isEmpty();
    }

    private static Shell.Outcome bash(String script) {
        return Shell.bash(LONG, Path.of("/"), script);
    }

    private static Shell.Outcome wan(String arguments) {
        return bash("export WAN_LAB=" + LAB + "; '" + WAN + "' " + arguments);
    }

    private static String namespaces() {
        return bash("ip netns list | grep '^gfs-" + LAB + "-' || true").orFail().strip();
    }

    private static boolean reaches(String region, String address) {
        return wan("exec " + region + " ping -q -c 3 -i 0.05 -W 1 " + address).ok();
    }

    /**
     * On an idle machine every round trip is within 1 ms of what is set. Tests share theirs: there
     * the quickest of many is, and half of them are not much later.
     */
    private static void assertRttMs(String region, String address, double set) {
        String output = wan("exec " + region + " ping -c 60 -i 0.03 " + address).orFail();
        Matcher times = TIME.matcher(output);
        List<Double> sorted =
                times.results().map(found -> Double.parseDouble(found.group(1))).sorted().toList();
        assertThat(sorted).as(output).hasSizeGreaterThan(30);
        assertThat(sorted.getFirst()).as(output).isBetween(set, set + 1);
        assertThat(sorted.get(sorted.size() / 2)).as(output).isBetween(set, set + 4);
    }

    @Test
    void delaysAsSet() {
        assertRttMs("west", "10.77.2.1", 30);
        assertRttMs("west", "10.77.3.1", 30);
        assertRttMs("south", "10.77.2.1", 0);
        wan("do rtt west east 12.5").orFail();
        assertRttMs("east", "10.77.1.1", 12.5);
        wan("do rtt west east 30").orFail();
        assertThat(wan("do stat").orFail()).contains("west>east delay=15.000ms", "late_avg=");
    }

    @Test
    void cutsAndHeals() {
        assertThat(reaches("east", "10.77.3.1")).isTrue();
        wan("do cut east south").orFail();
        assertThat(reaches("east", "10.77.3.1")).isFalse();
        assertThat(reaches("south", "10.77.2.1")).isFalse();
        assertThat(reaches("east", "10.77.1.1")).isTrue();
        wan("do heal").orFail();
        assertThat(reaches("east", "10.77.3.1")).isTrue();

        wan("do isolate west").orFail();
        assertThat(reaches("west", "10.77.2.1")).isFalse();
        assertThat(reaches("south", "10.77.1.1")).isFalse();
        assertThat(reaches("south", "10.77.2.1")).isTrue();
        wan("do heal").orFail();
        assertThat(reaches("west", "10.77.2.1")).isTrue();
    }

    @Test
    void cutsOneWay() throws IOException {
        wan("do cut1 east south").orFail();
        Path seen = folder.resolve("seen");
        // What south sends arrives; what east sends does not, an answer to it included.
        wan("exec east cat /proc/net/snmp > " + seen).orFail();
        long before = echoesReceived(seen);
        assertThat(reaches("south", "10.77.2.1")).isFalse();
        wan("exec east cat /proc/net/snmp > " + seen).orFail();
        assertThat(echoesReceived(seen)).isEqualTo(before + 3);
        wan("do heal").orFail();
        assertThat(reaches("south", "10.77.2.1")).isTrue();
    }

    /** The InEchos column of the Icmp lines. */
    private static long echoesReceived(Path snmp) throws IOException {
        List<String> lines =
                Files.readAllLines(snmp).stream().filter(line -> line.startsWith("Icmp:")).toList();
        int column = List.of(lines.get(0).split(" ")).indexOf("InEchos");
        return Long.parseLong(lines.get(1).split(" ")[column]);
    }

    @Test
    void losesAboutAsMuchAsSet() {
        wan("do loss west east 50").orFail();
        String output = wan("exec west ping -q -c 100 -i 0.01 -W 1 10.77.2.1 || true").orFail();
        wan("do loss west east 0").orFail();
        Matcher received = Pattern.compile("(\\d+) received").matcher(output);
        assertThat(received.find()).isTrue();
        // Both ways lose half: a quarter comes back.
        assertThat(Integer.parseInt(received.group(1))).isBetween(5, 50);
    }

    @Test
    void namesMistakes() throws IOException {
        assertThat(wan("do cut west nowhere").output())
                .contains("unknown region 'nowhere'", "west", "east", "south");
        assertThat(wan("do rtt west east soon").output()).contains("'soon' is no number");
        assertThat(wan("do rtt west").output()).contains("rtt takes 3 arguments, not 1");
        assertThat(wan("exec nowhere true").output()).contains("unknown region 'nowhere'");
        Path config = folder.resolve("wrong.conf");
        Files.writeString(config, "region a\nregion b\nrtt a c 3\n");
        assertThat(wan("up " + config).output()).contains("is up already");
        String other = bash("WAN_LAB=" + LAB + "x '" + WAN + "' up " + config).output();
        assertThat(other).contains("wrong.conf:3: unknown region 'c'");
        assertThat(bash("WAN_LAB=no-dash '" + WAN + "' down").output()).contains("a-z and 0-9");
        assertThat(bash("WAN_LAB=" + LAB + "y '" + WAN + "' do stat").output())
                .contains("is not up");
    }

    @Test
    void secondLabBesideItCleansUpAfterItsRouterWasKilled() throws IOException {
        String second = LAB + "k";
        Path config = folder.resolve("second.conf");
        Files.writeString(config, "region west\nregion east\n");
        String run = "export WAN_LAB=" + second + "; '" + WAN + "' ";
        bash(run + "up " + config).orFail();
        bash(run + "exec west ping -q -c 1 -W 1 10.77.2.1").orFail();
        bash(run + "exec east sleep 300 > /dev/null 2>&1 &").orFail();
        bash("kill -9 $(cat /run/globalfs-wan/" + second + "/pid)").orFail();
        assertThat(bash(run + "exec west true").output()).contains("is not up");
        bash(run + "down").orFail();
        assertThat(bash("ip netns list | grep '^gfs-" + second + "-' || true").orFail()).isEmpty();
        assertThat(Path.of("/run/globalfs-wan/" + second)).doesNotExist();
        assertThat(namespaces()).contains("west", "east", "south");
    }
}

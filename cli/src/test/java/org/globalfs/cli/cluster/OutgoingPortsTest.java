package org.globalfs.cli.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class OutgoingPortsTest {
    @Test
    void findsPortsThatOutgoingConnectionsMayHave() {
        OutgoingPorts ports = OutgoingPorts.parse("32768\t60999\n", "8080,40000-40047,50000\n");
        assertThat(ports.among(21_000, 48)).isEmpty();
        assertThat(ports.among(32_720, 48)).isEmpty();
        assertThat(ports.among(32_721, 48)).hasValue(32_768);
        assertThat(ports.among(40_000, 48)).isEmpty();
        assertThat(ports.among(40_001, 48)).hasValue(40_048);
        assertThat(ports.among(50_000, 48)).hasValue(50_001);
        assertThat(ports.among(60_999, 48)).hasValue(60_999);
        assertThat(ports.among(61_000, 48)).isEmpty();
    }

    @Test
    void knowsOfNoneWhereTheKernelDoesNotSay() {
        assertThat(OutgoingPorts.parse("\n", "\n").among(1, 65_000)).isEmpty();
        assertThat(OutgoingPorts.parse("32768\t60999\n", "\n").among(1, 65_000)).hasValue(32_768);
    }
}

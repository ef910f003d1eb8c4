package org.globalfs.protocol;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class BaseTypesTest {
    @Test
    void errnoNumbersAreLinux() {
        assertThat(Errno.ENOENT.number()).isEqualTo(2);
        assertThat(Errno.ENOTEMPTY.number()).isEqualTo(39);
        assertThat(Errno.EOPNOTSUPP.number()).isEqualTo(95);
        assertThat(Errno.ESTALE.number()).isEqualTo(116);
        assertThat(Errno.EDQUOT.number()).isEqualTo(122);
        for (Errno errno : Errno.values()) {
            assertThat(Errno.of(errno.number())).isEqualTo(errno);
        }
        assertThat(Errno.of(250)).isEqualTo(Errno.EIO);
        assertThat(Errno.of(100_000)).isEqualTo(Errno.EIO);
    }

    @Test
    void addressesAreReadAndPrinted() {
        assertThat(HostPort.parse("db1:70")).isEqualTo(new HostPort("db1", 70));
        assertThat(HostPort.parse("[::1]:70")).isEqualTo(new HostPort("::1", 70));
        assertThat(HostPort.parse("[::1]:70")).hasToString("[::1]:70");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "x", ":1", "x:", "x:y", "x:65536", "x:-1", "::1:70", "[::1]70"})
    void badAddressesAreRefused(String text) {
        assertThatThrownBy(() -> HostPort.parse(text)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void aBrokenInvariantSaysWhat() {
        Invariant.check(true, "never %s", 1);
        assertThatThrownBy(() -> Invariant.check(false, "instance %s after %s", 3L, 4L))
                .isInstanceOf(Invariant.Broken.class)
                .hasMessage("instance 3 after 4");
    }
}

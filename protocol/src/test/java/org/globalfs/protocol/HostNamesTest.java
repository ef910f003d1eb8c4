package org.globalfs.protocol;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.globalfs.protocol.rpc.MetadataCalls;
import org.globalfs.protocol.rpc.RpcClient;
import org.globalfs.protocol.rpc.RpcException;
import org.globalfs.protocol.wire.StatusRequest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Lookups of names whose servers are silent, which take for ever here. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class HostNamesTest {

    private static final long FAR_MS = 600_000;

    private static String silent(String host) {
        String name = host + TestNames.SUFFIX;
        TestNames.silence(name);
        return name;
    }

    @Test
    void anAddressIsItself() throws Exception {
        assertThat(new HostPort("10.1.2.3", 7).resolve(1).getAddress().getHostAddress())
                .isEqualTo("10.1.2.3");
        assertThat(new HostPort("::1", 7).resolve(1).getAddress().isLoopbackAddress()).isTrue();
    }

    @Test
    void whatIsNotKnownInTimeIsSaidToBe() {
        HostPort silent = new HostPort(silent("unknown"), 1);
        assertThatThrownBy(() -> silent.resolve(50))
                .isInstanceOf(UnknownHostException.class)
                .hasMessageContaining(silent.host())
                .hasMessageContaining("no name server says in time");
    }

    @Test
    void whatWasKnownServesOn() throws Exception {
        String name = "known" + TestNames.SUFFIX;
        InetAddress first = new HostPort(name, 1).resolve(FAR_MS).getAddress();
        assertThat(first.isLoopbackAddress()).isTrue();
        TestNames.silence(name);
        assertThat(new HostPort(name, 1).resolve(FAR_MS).getAddress()).isEqualTo(first);
        assertThat(new HostPort(name, 1).resolve(FAR_MS).getAddress()).isEqualTo(first);
    }

    @Test
    void aCallEndsAtItsDeadline() {
        try (RpcClient client = new RpcClient(silent("called"), 9)) {
            assertThatThrownBy(() -> client.call(MetadataCalls.STATUS, new StatusRequest(), 300))
                    .isInstanceOf(RpcException.class)
                    .hasMessageContaining("cannot connect to called");
        }
    }

    /** A few lookups there that take long would leave the other virtual threads no processor. */
    @Test
    void noVirtualThreadLooksUp() throws Exception {
        HostPort address = new HostPort("virtual" + TestNames.SUFFIX, 1);
        try (ExecutorService virtual = Executors.newVirtualThreadPerTaskExecutor()) {
            InetAddress found = virtual.submit(() -> address.resolve(FAR_MS).getAddress()).get();
            assertThat(found.isLoopbackAddress()).isTrue();
        }
        assertThat(TestNames.wereOnVirtualThread()).isFalse();
    }
}

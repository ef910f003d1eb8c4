package org.globalfs.protocol.discovery;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.apache.zookeeper.client.ZKClientConfig;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Beside ZooKeeper's own, whose reading of system properties it replaces. */
class PlainClientConfigTest {
    private static final Map<String, String> NAMED =
            Map.of(
                    ZKClientConfig.ENABLE_CLIENT_SASL_KEY, "false",
                    ZKClientConfig.LOGIN_CONTEXT_NAME_KEY, "Ours",
                    ZKClientConfig.ZK_SASL_CLIENT_USERNAME, "us",
                    ZKClientConfig.ZOOKEEPER_CLIENT_CNXN_SOCKET, "Socket",
                    ZKClientConfig.ZOOKEEPER_REQUEST_TIMEOUT, "17",
                    ZKClientConfig.JUTE_MAXBUFFER, "1000000");
    private static final String TRUST_STORE = "zookeeper.ssl.trustStore.location";

    @AfterEach
    void clear() {
        NAMED.keySet().forEach(System::clearProperty);
        System.clearProperty(ZKClientConfig.SECURE_CLIENT);
        System.clearProperty(TRUST_STORE);
    }

    @Test
    void propertiesReachTheClient() {
        NAMED.forEach(System::setProperty);
        ZKClientConfig own = new ZKClientConfig();
        ZKClientConfig plain = new PlainClientConfig();
        assertThat(NAMED)
                .allSatisfy((name, value) ->
                        assertThat(plain.getProperty(name))
                                .isEqualTo(own.getProperty(name))
                                .isEqualTo(value));
    }

    @Test
    void withoutPropertiesTheClientHasItsDefaults() {
        assertThat(new PlainClientConfig().isSaslClientEnabled())
                .isEqualTo(new ZKClientConfig().isSaslClientEnabled());
        assertThat(new PlainClientConfig().getJaasConfKey())
                .isEqualTo(new ZKClientConfig().getJaasConfKey());
    }

    @Test
    void whoAsksForTlsHasItsSettings() {
        System.setProperty(ZKClientConfig.SECURE_CLIENT, "true");
        System.setProperty(TRUST_STORE, "trust.p12");
        ZKClientConfig plain = new PlainClientConfig();
        assertThat(plain.getBoolean(ZKClientConfig.SECURE_CLIENT)).isTrue();
        assertThat(plain.getProperty(TRUST_STORE)).isEqualTo("trust.p12");
    }
}

package org.globalfs.protocol.discovery;

import org.apache.zookeeper.client.ZKClientConfig;

/**
 * The settings of ZooKeeper's client that system properties name, without a look at TLS unless they
 * ask for it: ZooKeeper's own has the JVM set up all of TLS in any case, which costs each process
 * some 0.1 s of processor time.
 */
final class PlainClientConfig extends ZKClientConfig {
    private static final String PREFIX = "zookeeper.";

    @Override
    protected void handleBackwardCompatibility() {
        if (Boolean.getBoolean(SECURE_CLIENT)) {
            super.handleBackwardCompatibility();
            return;
        }
        for (String name : System.getProperties().stringPropertyNames()) {
            if (name.startsWith(PREFIX) || name.equals(JUTE_MAXBUFFER)) {
                setProperty(name, System.getProperty(name));
            }
        }
    }
}

package org.globalfs.client.meta;

import org.globalfs.protocol.HostPort;

/**
 * A metadata replica: where it runs and which regional partition it holds beside the global one.
 */
public record Replica(
        int id, int partition, String region, String datacenter, String host, int port) {

    public String address() {
        return new HostPort(host, port).toString();
    }
}

package org.globalfs.protocol;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;

/**
 * A host name or address, and a TCP port; unresolved, so that it can be compared and stored.
 *
 * @param host an IPv6 address without the brackets that are around it where a port follows
 */
public record HostPort(String host, int port) {
    public HostPort {
        if (host.startsWith("[") && host.endsWith("]")) {
            host = host.substring(1, host.length() - 1);
        }
        if (host.isEmpty()) {
            throw new IllegalArgumentException("host is empty");
        }
        if (port < 0 || port > 65_535) {
            throw new IllegalArgumentException("port " + port + " is not in 0..65535");
        }
    }

    /** Reads {@code host:port} or {@code [v6]:port}. */
    public static HostPort parse(String text) {
        int colon = text.lastIndexOf(':');
        boolean bracketed = text.startsWith("[");
        if (colon <= 0
                || bracketed && text.charAt(colon - 1) != ']'
                || !bracketed && text.indexOf(':') != colon) {
            throw new IllegalArgumentException("'" + text + "' is not HOST:PORT");
        }
        try {
            return new HostPort(
                    text.substring(0, colon), Integer.parseInt(text.substring(colon + 1)));
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException("'" + text + "' does not end in a port number", e);
        }
    }

    /** Whether it is the address of all interfaces, which one can listen at but not connect to. */
    public static boolean isWildcard(String host) {
        try {
            return InetAddress.ofLiteral(host).isAnyLocalAddress();
        } catch (IllegalArgumentException e) {
            return false; // a name
        }
    }

    /** Whether it is, by its text alone, an address that only this machine reaches. */
    public static boolean isLoopback(String host) {
        try {
            return InetAddress.ofLiteral(host).isLoopbackAddress();
        } catch (IllegalArgumentException e) {
            return host.equals("localhost");
        }
    }

    /**
     * What to connect to: the host's address, or, where no name server says so in time, the one
     * that it was last known by.
     *
     * @param timeoutMs how long a name may take that was not known before
     * @throws UnknownHostException the name stands for nothing, or nobody said so in time
     */
    public InetSocketAddress resolve(long timeoutMs) throws UnknownHostException {
        return new InetSocketAddress(HostNames.address(host, timeoutMs), port);
    }

    /** What to listen at; as long as the system takes. */
    public InetSocketAddress resolve() throws UnknownHostException {
        return new InetSocketAddress(InetAddress.getByName(host), port);
    }

    @Override
    public String toString() {
        return host.indexOf(':') >= 0 ? "[" + host + "]:" + port : host + ":" + port;
    }
}

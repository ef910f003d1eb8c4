package org.globalfs.bench.multicast;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.globalfs.bench.BenchFailure;
import org.globalfs.bench.lab.Figure;
import org.globalfs.protocol.FreePorts;

/** All members on 127.0.0.1. */
final class Loopback implements Place {
    private static final InetAddress LOOPBACK = InetAddress.ofLiteral("127.0.0.1");

    private final int members;

    Loopback() {
        this(MEMBERS);
    }

    Loopback(int members) {
        this.members = members;
    }

    @Override
    public int members() {
        return members;
    }

    @Override
    public Map<Integer, InetSocketAddress> freshAddresses() {
        try {
            Map<Integer, InetSocketAddress> addresses = new TreeMap<>();
            for (int member = 1; member <= members; member++) {
                addresses.put(member, new InetSocketAddress(LOOPBACK, FreePorts.one()));
            }
            return addresses;
        } catch (IOException e) {
            throw new BenchFailure("no free ports on loopback", e);
        }
    }

    @Override
    public List<String> prefix(int member) {
        return List.of();
    }

    @Override
    public int retryMs() {
        return 200;
    }

    @Override
    public int ring() {
        return 1;
    }

    @Override
    public void watch() {}

    @Override
    public String judged(Figure figure) {
        return figure.toString();
    }
}

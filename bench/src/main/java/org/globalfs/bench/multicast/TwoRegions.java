package org.globalfs.bench.multicast;

import java.net.InetSocketAddress;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.globalfs.bench.lab.Figure;
import org.globalfs.bench.multicast.member.MergedLogMember;

/** Several members in the lab's first region, and some in the one furthest from it. */
final class TwoRegions implements Place {
    private static final int HERE = 1;
    private static final int FIRST_PORT = 8000;

    private final WanLab lab;
    private final int members;
    private final int there;
    private int port = FIRST_PORT;

    TwoRegions(WanLab lab, int members) {
        this.lab = lab;
        this.members = members;
        this.there = lab.furthest(HERE);
    }

    double rttMs() {
        return lab.rttMs(HERE, there);
    }

    private int region(int member) {
        return member <= MergedLogMember.HOME_MEMBERS ? HERE : there;
    }

    @Override
    public int members() {
        return members;
    }

    @Override
    public Map<Integer, InetSocketAddress> freshAddresses() {
        Map<Integer, InetSocketAddress> addresses = new TreeMap<>();
        for (int member = 1; member <= members; member++) {
            addresses.put(member, new InetSocketAddress(lab.address(region(member)), port++));
        }
        return addresses;
    }

    @Override
    public List<String> prefix(int member) {
        return lab.prefix(region(member));
    }

    @Override
    public int retryMs() {
        return lab.retryMs();
    }

    @Override
    public int ring() {
        return lab.ring();
    }

    @Override
    public void watch() {
        lab.watch();
    }

    @Override
    public String judged(Figure figure) {
        return lab.judged(figure);
    }
}

package org.globalfs.jepsen.fault;

import java.io.IOException;
import org.globalfs.jepsen.cluster.WanLab;

/**
 * A link between two regions that is slow, or loses packets.
 *
 * @param times how many times its usual delay it has
 */
record BadLink(String name, WanLab lab, String one, String other, int times, int lossPercent)
        implements Fault {

    @Override
    public String target() {
        return one + " " + other;
    }

    @Override
    public void begin() throws IOException {
        set(times, lossPercent);
    }

    @Override
    public void end() throws IOException {
        set(1, 0);
    }

    private void set(int slower, int percent) throws IOException {
        lab.slow(one, other, slower);
        lab.lose(one, other, percent);
    }
}

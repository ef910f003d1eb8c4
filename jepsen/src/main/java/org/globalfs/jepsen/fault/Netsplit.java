package org.globalfs.jepsen.fault;

import java.io.IOException;
import java.util.List;
import java.util.stream.Collectors;
import org.globalfs.jepsen.cluster.TestedCluster;
import org.globalfs.jepsen.cluster.WanLab;

/**
 * Links between regions that carry nothing.
 *
 * @param cuts one direction each
 */
record Netsplit(String name, WanLab lab, List<Cut> cuts) implements Fault {

    /** From a region to another. */
    record Cut(String from, String to) {}

    @Override
    public String target() {
        return cuts.stream().map(cut -> cut.from + ">" + cut.to).collect(Collectors.joining(" "));
    }

    /** TCP needs both directions. */
    private boolean joined(String one, String other) {
        return !cuts.contains(new Cut(one, other)) && !cuts.contains(new Cut(other, one));
    }

    /**
     * The global partition goes on in regions that reach a majority, themselves among them: what
     * they do not get from its coordinator, or cannot send there, goes through another.
     */
    @Override
    public boolean spares(String client, String partition) {
        if (!partition.equals(FaultKind.GLOBAL)) {
            return joined(client, partition);
        }
        long inReach = TestedCluster.REGIONS.stream().filter(r -> joined(client, r)).count();
        return 2 * inReach > TestedCluster.REGIONS.size();
    }

    @Override
    public void begin() throws IOException {
        for (Cut cut : cuts) {
            lab.cut(cut.from, cut.to);
        }
    }

    @Override
    public void end() throws IOException {
        lab.heal();
    }
}

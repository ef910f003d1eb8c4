package org.globalfs.jepsen.fault;

import java.io.IOException;
import java.util.List;
import org.globalfs.jepsen.cluster.TestedCluster;

/**
 * Processes that serve no more for a while: killed with -9 and started again, or stopped.
 *
 * @param killed false: stopped with SIGSTOP, and continued
 */
record ProcessFault(String name, TestedCluster cluster, List<String> processes, boolean killed)
        implements Fault {

    @Override
    public String target() {
        return processes.equals(TestedCluster.everything())
                ? "everything"
                : String.join(" ", processes);
    }

    @Override
    public boolean spares(String client, String partition) {
        if (processes.contains(TestedCluster.mountProcess(client))) {
            return false;
        }
        List<String> voters =
                TestedCluster.REGIONS.stream()
                        .filter(r -> partition.equals(r) || partition.equals(FaultKind.GLOBAL))
                        .flatMap(r -> TestedCluster.servers(r).stream())
                        .toList();
        long left = voters.stream().filter(voter -> !processes.contains(voter)).count();
        return 2 * left > voters.size();
    }

    @Override
    public void begin() throws IOException {
        if (killed) {
            cluster.kill(processes);
        } else {
            cluster.pause(processes);
        }
    }

    @Override
    public void end() throws IOException {
        if (killed) {
            cluster.start(processes);
        } else {
            cluster.resume(processes);
        }
    }
}

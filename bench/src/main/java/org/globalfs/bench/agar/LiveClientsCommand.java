package org.globalfs.bench.agar;

import java.io.IOException;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** The hidden command that the clients' process runs. */
@Command(name = LiveClientsCommand.NAME, hidden = true, description = "Clients that are measured.")
public final class LiveClientsCommand implements Callable<Integer> {
    static final String NAME = "agar-clients";

    @Option(names = "--zookeeper", required = true)
    private String zookeeper = "";

    @Option(names = "--cluster", required = true)
    private String cluster = "";

    @Option(names = "--region", required = true)
    private String region = "";

    @Override
    public Integer call() throws IOException {
        try (LiveClients clients = new LiveClients(zookeeper, cluster, region)) {
            clients.serve(System.in, System.out);
        }
        return 0;
    }
}

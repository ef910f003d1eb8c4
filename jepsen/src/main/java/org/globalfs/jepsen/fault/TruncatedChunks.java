package org.globalfs.jepsen.fault;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import org.globalfs.jepsen.cluster.TestedCluster;

/**
 * A server that is killed and starts again with files of chunks that end before they should. It has
 * to start, and all that was in them has to be there again before the fault is over.
 */
final class TruncatedChunks implements Fault {
    private static final int MOST_FILES = 3;
    private static final Duration LIMIT = Duration.ofMinutes(2);

    private final TestedCluster cluster;
    private final String server;
    private final Random random;
    private final ProcessFault dead;
    private final List<CutFile> cut = new ArrayList<>();

    private TruncatedChunks(String name, TestedCluster cluster, String server, Random random) {
        this.cluster = cluster;
        this.server = server;
        this.random = random;
        dead = new ProcessFault(name, cluster, List.of(server), true);
    }

    /** On one of these servers: the first that has chunks. */
    static Fault of(String name, TestedCluster cluster, List<String> servers, Random random) {
        String server =
                servers.stream()
                        .filter(each -> Damage.areIn(ServerFiles.CHUNKS, cluster, each, random))
                        .findFirst()
                        .orElse(servers.getFirst());
        return new TruncatedChunks(name, cluster, server, new Random(random.nextLong()));
    }

    @Override
    public String name() {
        return dead.name();
    }

    @Override
    public String target() {
        return dead.target();
    }

    @Override
    public boolean spares(String client, String partition) {
        return dead.spares(client, partition);
    }

    /** Nothing is cut while content lacks anything: it might be one chunk too many. */
    @Override
    public void begin() throws IOException {
        dead.begin();
        if (cluster.isContentWhole()) {
            Path data = cluster.data(server);
            Set<Path> files = new HashSet<>();
            for (int i = 1 + random.nextInt(MOST_FILES); i > 0; i--) {
                List<ServerFiles.Part> parts = ServerFiles.CHUNKS.partsOfOne(data, random);
                if (!parts.isEmpty() && files.add(parts.getFirst().file())) {
                    cut.add(CutFile.in(parts, random));
                    cluster.damagedBlocks().addAll(cut.getLast().blocks());
                }
            }
        }
        System.out.println(name() + " " + server + ": " + cut);
        cluster.start(List.of(server));
    }

    @Override
    public void end() throws IOException {
        try {
            cluster.start(List.of(server));
        } catch (IOException e) {
            for (CutFile file : cut) {
                file.undo();
            }
            throw e;
        }
        Optional<String> left = cut.isEmpty() ? Optional.empty() : cluster.awaitContent(LIMIT);
        if (left.isPresent()) {
            throw new IOException(
                    "what " + server + " lost of " + cut + " is not made anew: " + left.get());
        }
    }
}

package org.globalfs.jepsen.fault;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.regex.Pattern;
import org.globalfs.jepsen.cluster.TestedCluster;

/**
 * A server that is killed and starts again with files that are not what it wrote. It has to find
 * that out, and either mend itself or refuse to start: then the bytes are changed back.
 */
final class Damage implements Fault {
    private static final int MOST_CHUNKS = 2;
    private static final int MOST_LINES = 6;
    private static final Duration LIMIT = Duration.ofMinutes(2);
    private static final Pattern NOTICED =
            Pattern.compile(
                    "(?i)damage|corrupt|checksum|set aside|made anew|no readable|is gone|cannot go on|checkpoint");

    private final TestedCluster cluster;
    private final ServerFiles files;
    private final String server;
    private final Random random;
    private final ProcessFault dead;
    private final List<ChangedBytes> changed = new ArrayList<>();
    private long logBytes;

    private Damage(
            String name, TestedCluster cluster, ServerFiles files, String server, Random random) {
        this.cluster = cluster;
        this.files = files;
        this.server = server;
        this.random = random;
        dead = new ProcessFault(name, cluster, List.of(server), true);
    }

    /** On one of these servers: the first that has such files. */
    static Damage of(
            String name,
            TestedCluster cluster,
            ServerFiles files,
            List<String> servers,
            Random random) {
        for (String server : servers) {
            if (areIn(files, cluster, server, random)) {
                return new Damage(name, cluster, files, server, random);
            }
        }
        return new Damage(name, cluster, files, servers.getFirst(), random);
    }

    static boolean areIn(ServerFiles files, TestedCluster cluster, String server, Random random) {
        try {
            return files.areIn(cluster.data(server), random);
        } catch (IOException e) {
            return false; // the server runs, and may just have deleted one
        }
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

    @Override
    public void begin() throws IOException {
        logBytes = cluster.log(server).length();
        dead.begin();
        int parts = files == ServerFiles.CHUNKS ? 1 + random.nextInt(MOST_CHUNKS) : 1;
        for (int i = 0; i < parts; i++) {
            Path data = cluster.data(server);
            Optional<ServerFiles.Part> part = files.any(data, random, cluster.damagedBlocks());
            if (part.isPresent()) {
                changed.add(ChangedBytes.in(part.get(), random));
                if (!part.get().block().isEmpty()) {
                    cluster.damagedBlocks().add(part.get().block());
                }
            }
        }
        cluster.expectToDie(server);
        startOrPutBack();
    }

    private void startOrPutBack() throws IOException {
        try {
            cluster.start(List.of(server));
        } catch (IOException e) {
            tell("does not start: " + e.getMessage());
            for (ChangedBytes bytes : changed) {
                bytes.undo();
            }
            cluster.start(List.of(server));
        }
    }

    /** All of the state is read, so that no damage is found only later. */
    @Override
    public void end() throws IOException {
        startOrPutBack();
        Optional<String> missing = cluster.awaitMembers(LIMIT);
        tell(changed.isEmpty() ? "nothing there to damage" : changed.toString());
        cluster.log(server)
                .substring((int) logBytes)
                .lines()
                .filter(line -> NOTICED.matcher(line).find() && !line.startsWith("\tat "))
                .limit(MOST_LINES)
                .forEach(this::tell);
        if (missing.isPresent()) {
            throw new IOException(
                    "after its files were damaged " + server + " is not back: " + missing.get());
        }
    }

    private void tell(String what) {
        System.out.println(name() + " " + server + ": " + what);
    }
}

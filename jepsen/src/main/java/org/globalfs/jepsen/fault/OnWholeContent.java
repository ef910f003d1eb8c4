package org.globalfs.jepsen.fault;

import java.io.IOException;
import java.time.Duration;
import java.util.Optional;

/**
 * A fault that content survives as long as no other has taken of it: first, what earlier ones took
 * is made anew. So all of it has to be readable meanwhile, for who reaches its replicas.
 */
final class OnWholeContent extends AroundFault {
    private static final Duration LIMIT = Duration.ofSeconds(45);

    /** Content on storage nodes. */
    interface Content {
        /** See {@link org.globalfs.jepsen.cluster.TestedCluster#awaitContent}. */
        Optional<String> awaitWhole(Duration limit) throws IOException;
    }

    private final Content content;
    private boolean whole;

    OnWholeContent(Fault fault, Content content) {
        super(fault);
        this.content = content;
    }

    @Override
    public void aim() throws IOException {
        Optional<String> lacking = content.awaitWhole(LIMIT);
        whole = lacking.isEmpty();
        lacking.ifPresent(what ->
                System.out.println(
                        name() + ": content is not whole before it; not judged: " + what));
        super.aim();
    }

    @Override
    public boolean readable(String client, String partition) {
        return whole && spares(client, partition);
    }
}

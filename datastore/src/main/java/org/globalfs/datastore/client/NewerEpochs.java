package org.globalfs.datastore.client;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.globalfs.datastore.wire.StorageConnection;
import org.globalfs.protocol.discovery.Epoch;
import org.globalfs.protocol.discovery.StorageSite;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Asks storage nodes for a newer placement epoch than is known here: they may still hear from
 * ZooKeeper when this process does not. Thread-safe.
 */
final class NewerEpochs {
    private static final Logger LOG = LoggerFactory.getLogger(NewerEpochs.class);
    private static final int MOST_ASKED = 3;
    private static final int TIMEOUT_MS = 1_000;
    private static final long PAUSE_NS = TimeUnit.SECONDS.toNanos(1);

    private final String cluster;
    private final NodeDirectory directory;
    private final FailureDetector detector;
    private long askedNs = System.nanoTime() - PAUSE_NS;

    NewerEpochs(String cluster, NodeDirectory directory, FailureDetector detector) {
        this.cluster = cluster;
        this.directory = directory;
        this.detector = detector;
    }

    /**
     * Whether a newer epoch than this is known now. Asks some nodes of the region, which takes
     * seconds at most; not again within a second.
     */
    synchronized boolean areThere(int epoch, int region) throws IOException {
        if (directory.newestEpoch() > epoch) {
            return true;
        }
        if (System.nanoTime() - askedNs < PAUSE_NS) {
            return false;
        }
        List<StorageSite> nodes = new ArrayList<>(directory.holders(region));
        nodes.removeIf(site -> detector.isSuspect(site.id()));
        Collections.shuffle(nodes);
        for (StorageSite site : nodes.subList(0, Math.min(MOST_ASKED, nodes.size()))) {
            ask(site, epoch);
        }
        askedNs = System.nanoTime();
        return directory.newestEpoch() > epoch;
    }

    private void ask(StorageSite site, int known) {
        try (StorageConnection node =
                new StorageConnection(directory.address(site), cluster, site.id(), TIMEOUT_MS)) {
            Epoch told = node.epochAfter(known);
            if (told != null) {
                directory.learn(told);
            }
        } catch (IOException e) {
            LOG.debug("{} does not say which epoch it knows: {}", site.id(), e.toString());
        }
    }
}

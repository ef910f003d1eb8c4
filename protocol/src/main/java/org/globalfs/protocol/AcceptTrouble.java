package org.globalfs.protocol;

import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;

/**
 * Says that a server cannot accept connections, and what mends it, once a minute, or that it
 * refuses them because too many are in use, every ten seconds, however often that is tried. For one
 * thread.
 */
public final class AcceptTrouble {
    private static final long AGAIN_NS = TimeUnit.MINUTES.toNanos(1);

    private final Logger log;
    private final String server;
    private final RareWarning refusals = new RareWarning();
    private boolean said;
    private long saidNs;
    private long refused;

    public AcceptTrouble(Logger log, String server) {
        this.log = log;
        this.server = server;
    }

    /**
     * @param nowNs of {@link System#nanoTime}
     */
    public void failed(Throwable failure, long nowNs) {
        if (said && nowNs - saidNs < AGAIN_NS) {
            return;
        }
        said = true;
        saidNs = nowNs;
        log.warn(
                "{} cannot accept connections: {}{}",
                server,
                failure.toString(),
                OpenFiles.areUsedUp(failure) ? ". " + OpenFiles.remedy() : "");
    }

    /**
     * A connection was refused, as all that there may be are in use.
     *
     * @param most how many there may be
     * @param nowNs of {@link System#nanoTime}
     */
    public void refused(int most, long nowNs) {
        refused++;
        if (refusals.isDue(nowNs)) {
            log.warn("{}: {} connections are in use, {} more refused", server, most, refused);
            refused = 0;
        }
    }
}

package org.globalfs.client.cache;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;

/**
 * Which inodes were forgotten since a request was sent: what its reply says of them may be old.
 *
 * <p>Kept of the last {@link #MOST}, however fast they come: a walk of a big tree forgets an inode
 * with each that it looks up, once memory for them is used up. Of a request that is older than
 * those any inode may have been forgotten since. Thread-safe; calls nobody.
 */
final class ForgottenInodes {

    /** Each takes some 100 bytes. */
    static final int MOST = 100_000;

    /** When each was forgotten last, in that order. */
    private final Map<Long, Long> stamps = new LinkedHashMap<>();

    private long now;

    /** When the last one was forgotten that is not among those. */
    private long unknownUntil;

    /** To be taken before a request is sent. */
    synchronized long stamp() {
        return now;
    }

    synchronized void forgotten(long ino) {
        now++;
        // Taken out first, as it would stay at its former place.
        stamps.remove(ino);
        stamps.put(ino, now);
        if (stamps.size() > MOST) {
            long oldest = stamps.keySet().iterator().next();
            unknownUntil = Objects.requireNonNull(stamps.remove(oldest));
        }
    }

    /** Whether the inode was, or may have been, forgotten after that stamp was taken. */
    synchronized boolean since(long stamp, long ino) {
        return unknownUntil > stamp || stamps.getOrDefault(ino, 0L) > stamp;
    }

    synchronized int size() {
        return stamps.size();
    }
}

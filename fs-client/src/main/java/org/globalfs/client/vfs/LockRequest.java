package org.globalfs.client.vfs;

/**
 * A lock of a byte range (fcntl(2)) or of a whole file (flock(2)), asked for or found.
 *
 * @param owner who holds it or wants it: the kernel's number of a process's files or of an open
 *     file
 * @param flock by flock(2)
 * @param first byte
 * @param last byte; {@link Long#MAX_VALUE}: to the end, wherever that is
 * @param pid of the process; 0: not of this mount
 */
public record LockRequest(long owner, boolean flock, Type type, long first, long last, int pid) {

    /** What is asked of the range. */
    public enum Type {
        READ,
        WRITE,
        UNLOCK
    }
}

package org.globalfs.multicast.runtime;

/**
 * Stops the whole process's multicast when one of its threads cannot go on: a ring must never be
 * silently dead.
 */
interface FatalStop {
    void fatal(String where, Throwable cause);
}

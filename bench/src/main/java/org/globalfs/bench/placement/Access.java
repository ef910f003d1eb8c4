package org.globalfs.bench.placement;

/**
 * What users of a region did in a directory within a second.
 *
 * @param second from the beginning on
 * @param region its number, from 0 on
 */
record Access(int second, int region, String directory, int reads, int writes) {

    int operations() {
        return reads + writes;
    }
}

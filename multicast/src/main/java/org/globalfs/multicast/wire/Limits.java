package org.globalfs.multicast.wire;

import java.nio.ByteBuffer;

/** Keeps a wrong count from becoming a huge allocation. */
final class Limits {
    private Limits() {}

    static void count(ByteBuffer from, int count, int leastBytesEach) throws WireException {
        if (count < 0 || (long) count * leastBytesEach > from.remaining()) {
            throw new WireException(
                    "a count of "
                            + count
                            + " does not fit the "
                            + from.remaining()
                            + " bytes left");
        }
    }
}

package org.globalfs.jepsen.fault;

/**
 * A fault that leaves as many storage nodes as writes of content need: who has what updates need
 * has to be able to write.
 */
final class EnoughStorage extends AroundFault {
    private final boolean reads;

    /**
     * @param reads whether it takes no chunk out of reach either: all has to be readable, too, as
     *     it is while nothing is broken
     */
    EnoughStorage(Fault fault, boolean reads) {
        super(fault);
        this.reads = reads;
    }

    @Override
    public boolean readable(String client, String partition) {
        return reads && spares(client, partition);
    }

    @Override
    public boolean writable(String client, String partition) {
        return spares(client, partition);
    }
}

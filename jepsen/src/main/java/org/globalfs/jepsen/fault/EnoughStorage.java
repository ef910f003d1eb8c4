package org.globalfs.jepsen.fault;

import java.io.IOException;

/**
 * A fault that leaves as many storage nodes as writes of content need: who has what updates need
 * has to be able to write.
 *
 * @param reads whether it takes no chunk out of reach either: all has to be readable, too, as it is
 *     while nothing is broken
 */
record EnoughStorage(Fault fault, boolean reads) implements Fault {

    @Override
    public String name() {
        return fault.name();
    }

    @Override
    public void aim() throws IOException {
        fault.aim();
    }

    @Override
    public String target() {
        return fault.target();
    }

    @Override
    public boolean spares(String client, String partition) {
        return fault.spares(client, partition);
    }

    @Override
    public boolean readable(String client, String partition) {
        return reads && fault.spares(client, partition);
    }

    @Override
    public boolean writable(String client, String partition) {
        return fault.spares(client, partition);
    }

    @Override
    public void begin() throws IOException {
        fault.begin();
    }

    @Override
    public void end() throws IOException {
        fault.end();
    }
}

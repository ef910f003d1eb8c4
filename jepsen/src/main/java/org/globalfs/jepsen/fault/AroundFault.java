package org.globalfs.jepsen.fault;

import java.io.IOException;

/** Another fault, of which something more is known or done. */
abstract class AroundFault implements Fault {
    private final Fault fault;

    AroundFault(Fault fault) {
        this.fault = fault;
    }

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
        return fault.readable(client, partition);
    }

    @Override
    public boolean writable(String client, String partition) {
        return fault.writable(client, partition);
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

package org.globalfs.multicast.wire;

/** Bytes that no peer of this protocol version sends. */
public final class WireException extends Exception {
    public WireException(String message) {
        super(message);
    }
}

package org.globalfs.replica.state.operations;

import org.apache.thrift.TBase;
import org.apache.thrift.TDeserializer;
import org.apache.thrift.TException;
import org.apache.thrift.TSerializer;
import org.apache.thrift.protocol.TCompactProtocol;
import org.globalfs.protocol.Invariant;

/**
 * Thrift structs as bytes, in the compact protocol: the form of commands in the log and of recorded
 * replies.
 */
public final class Wire {

    private static final TCompactProtocol.Factory PROTOCOL = new TCompactProtocol.Factory();

    private Wire() {}

    public static byte[] encode(TBase<?, ?> struct) {
        try {
            return new TSerializer(PROTOCOL).serialize(struct);
        } catch (TException e) {
            throw Invariant.broken("cannot encode %s: %s", struct, e);
        }
    }

    /** Fills the struct from bytes. */
    public static <T extends TBase<?, ?>> T decode(T into, byte[] bytes) throws TException {
        new TDeserializer(PROTOCOL).deserialize(into, bytes);
        return into;
    }
}

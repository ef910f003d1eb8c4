package org.globalfs.replica.service;

import org.apache.thrift.TDeserializer;
import org.apache.thrift.TException;
import org.apache.thrift.TSerializer;
import org.apache.thrift.protocol.TCompactProtocol;
import org.apache.thrift.transport.TTransportException;
import org.globalfs.protocol.Invariant;
import org.globalfs.protocol.wire.Command;
import org.globalfs.protocol.wire.Credentials;
import org.globalfs.protocol.wire.UpdateOp;

/** Commands as the rings carry them. */
final class CommandBytes {

    private CommandBytes() {}

    static byte[] of(Command command) {
        try {
            return new TSerializer(new TCompactProtocol.Factory()).serialize(command);
        } catch (TTransportException e) {
            throw Invariant.broken("serializing to memory failed: %s", e);
        } catch (TException e) {
            throw new IllegalArgumentException("command is incomplete: " + e.getMessage(), e);
        }
    }

    static Command command(byte[] bytes) {
        try {
            Command command = new Command();
            new TDeserializer(new TCompactProtocol.Factory()).deserialize(command, bytes);
            return command;
        } catch (TException e) {
            throw Invariant.broken("a command that was ordered cannot be read: %s", e);
        }
    }

    /**
     * A command of the replicas themselves: of no session, and harmless when it is executed twice.
     */
    static byte[] internal(int origin, UpdateOp op) {
        return of(new Command(0, 0, 0, new Credentials(0, 0), origin, op));
    }
}

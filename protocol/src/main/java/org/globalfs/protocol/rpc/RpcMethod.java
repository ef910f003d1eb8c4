package org.globalfs.protocol.rpc;

import java.util.function.Supplier;
import org.apache.thrift.TSerializable;

/**
 * A call of the IDL: its name, and how to make an empty request and an empty reply to read into. On
 * the wire it is {@code reply name(1: request)} of a Thrift service.
 */
public record RpcMethod<Q extends TSerializable, R extends TSerializable>(
        String name, Supplier<Q> newRequest, Supplier<R> newReply) {}

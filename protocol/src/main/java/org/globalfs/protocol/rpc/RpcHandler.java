package org.globalfs.protocol.rpc;

import org.apache.thrift.TSerializable;

/** Answers one kind of call; runs on the thread of the caller's connection and may block. */
@FunctionalInterface
public interface RpcHandler<Q extends TSerializable, R extends TSerializable> {

    /** An exception reaches the caller as {@link RpcException.Outcome#REFUSED}. */
    R handle(Q request) throws Exception;
}

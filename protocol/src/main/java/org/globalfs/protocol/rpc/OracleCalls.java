package org.globalfs.protocol.rpc;

import org.globalfs.protocol.wire.LocateReply;
import org.globalfs.protocol.wire.LocateRequest;

/** The calls of {@code OracleService}. */
public final class OracleCalls {

    public static final RpcMethod<LocateRequest, LocateReply> LOCATE =
            new RpcMethod<>("locate", LocateRequest::new, LocateReply::new);

    private OracleCalls() {}
}

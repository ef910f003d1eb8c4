package org.globalfs.protocol.rpc;

import org.globalfs.protocol.wire.ExplainReply;
import org.globalfs.protocol.wire.ExplainRequest;
import org.globalfs.protocol.wire.LocateReply;
import org.globalfs.protocol.wire.LocateRequest;
import org.globalfs.protocol.wire.UseReply;
import org.globalfs.protocol.wire.UseReport;

/** The calls of {@code OracleService}. */
public final class OracleCalls {

    public static final RpcMethod<LocateRequest, LocateReply> LOCATE =
            new RpcMethod<>("locate", LocateRequest::new, LocateReply::new);

    public static final RpcMethod<UseReport, UseReply> REPORT_USE =
            new RpcMethod<>("reportUse", UseReport::new, UseReply::new);

    public static final RpcMethod<ExplainRequest, ExplainReply> EXPLAIN =
            new RpcMethod<>("explain", ExplainRequest::new, ExplainReply::new);

    private OracleCalls() {}
}

package org.globalfs.replica.service;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.apache.thrift.TSerializable;
import org.globalfs.protocol.Shutdown;
import org.globalfs.protocol.rpc.RpcHandler;
import org.globalfs.replica.state.store.StateException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Where everything goes after which this replica must not go on: its disk failed or its state can
 * no longer be trusted. The first is handed to the process, which stops.
 */
final class FatalError implements Consumer<Throwable> {

    private static final Logger LOG = LoggerFactory.getLogger(FatalError.class);

    private final int replica;
    private final Shutdown shutdown;
    private final Consumer<Throwable> process;
    private final AtomicBoolean met = new AtomicBoolean();

    FatalError(int replica, Shutdown shutdown, Consumer<Throwable> process) {
        this.replica = replica;
        this.shutdown = shutdown;
        this.process = process;
    }

    @Override
    public void accept(Throwable cause) {
        if (shutdown.begun()) {
            LOG.warn("replica {}: while it stops: {}", replica, cause.toString());
        } else if (met.compareAndSet(false, true)) {
            LOG.error("replica {} cannot go on", replica, cause);
            Thread.ofPlatform()
                    .name("replica-" + replica + "-fatal")
                    .start(() -> process.accept(cause));
        }
    }

    /**
     * The same handler, with what must stop the replica told apart from what only fails the call.
     */
    <Q extends TSerializable, R extends TSerializable> RpcHandler<Q, R> guard(
            RpcHandler<Q, R> handler) {
        return request -> {
            try {
                return handler.handle(request);
            } catch (StateException e) {
                accept(e);
                throw e;
            } catch (Error e) {
                accept(e);
                throw new IllegalStateException("the replica is broken", e);
            }
        };
    }
}

package org.globalfs.replica.service;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.globalfs.protocol.Invariant;
import org.globalfs.protocol.wire.UpdateReply;
import org.globalfs.replica.state.ResultListener;
import org.jspecify.annotations.Nullable;

/**
 * Calls that wait for the execution of an update of one partition. Calls for the same update share
 * the outcome.
 */
final class Waiters implements ResultListener {

    private record Key(long session, long sequence) {}

    private final ConcurrentHashMap<Key, Waiter> waiting = new ConcurrentHashMap<>();

    /** One call's wait; close it when the call ends. */
    final class Waiter implements AutoCloseable {
        private final Key key;
        private final CompletableFuture<UpdateReply> outcome = new CompletableFuture<>();
        private int calls;

        private Waiter(Key key) {
            this.key = key;
        }

        /** The outcome; null when the time passed first. */
        @Nullable UpdateReply await(long timeoutNs) throws InterruptedException {
            try {
                return outcome.get(Math.max(0, timeoutNs), TimeUnit.NANOSECONDS);
            } catch (TimeoutException e) {
                return null;
            } catch (ExecutionException e) {
                throw Invariant.broken("an outcome is never a failure: %s", e);
            }
        }

        /**
         * The call ends and this wait with it, but for an action upon execution, on the thread that
         * executes.
         *
         * @return to be run when it will not be executed any more
         */
        Runnable whenExecuted(Consumer<UpdateReply> action) {
            enter(key.session, key.sequence);
            AtomicBoolean over = new AtomicBoolean();
            Runnable end =
                    () -> {
                        if (over.compareAndSet(false, true)) {
                            close();
                        }
                    };
            var _ =
                    outcome.thenAccept(reply -> {
                        end.run();
                        action.accept(reply);
                    });
            return end;
        }

        @Override
        public void close() {
            waiting.computeIfPresent(key, (k, waiter) -> --waiter.calls == 0 ? null : waiter);
        }
    }

    Waiter enter(long session, long sequence) {
        return waiting.compute(
                new Key(session, sequence),
                (key, present) -> {
                    Waiter waiter = present == null ? new Waiter(key) : present;
                    waiter.calls++;
                    return waiter;
                });
    }

    /** Of how many updates somebody waits for the execution. */
    int count() {
        return waiting.size();
    }

    @Override
    public void executed(long session, long sequence, UpdateReply reply) {
        if (session != 0) {
            Waiter waiter = waiting.get(new Key(session, sequence));
            if (waiter != null) {
                waiter.outcome.complete(reply);
            }
        }
    }
}

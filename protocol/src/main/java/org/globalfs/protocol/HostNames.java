package org.globalfs.protocol;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * Addresses of other processes' hosts, within a time limit, which the system's own lookup does not
 * have: a name server that is silent, gone with its datacenter perhaps, keeps that for many
 * seconds, and with it the processor's share of virtual threads that it is called on. What a name
 * was last known to stand for is used while nothing newer is to be had. Thread-safe.
 */
final class HostNames {

    /** How long something newer is waited for where an address is known. */
    private static final long PATIENCE_NS = TimeUnit.MILLISECONDS.toNanos(100);

    private static final Map<String, HostNames> NAMES = new ConcurrentHashMap<>();

    private final String name;
    private @Nullable InetAddress last;
    private @Nullable Lookup running;

    private record Lookup(CompletableFuture<InetAddress> found, long beganNs) {}

    private HostNames(String name) {
        this.name = name;
    }

    /**
     * @param host a name or an address
     * @throws UnknownHostException the name stands for nothing, or what it stands for was not known
     *     in time
     */
    static InetAddress address(String host, long timeoutMs) throws UnknownHostException {
        try {
            return InetAddress.ofLiteral(host);
        } catch (IllegalArgumentException e) {
            // A name, then.
            return NAMES.computeIfAbsent(host, HostNames::new)
                    .address(TimeUnit.MILLISECONDS.toNanos(timeoutMs));
        }
    }

    private InetAddress address(long timeoutNs) throws UnknownHostException {
        Lookup lookup;
        InetAddress known;
        synchronized (this) {
            // One that no thread could be begun for is over, and nobody else says so.
            if (running == null || running.found.isDone()) {
                running = begin();
            }
            lookup = running;
            known = last;
        }
        long leftNs =
                known == null
                        ? timeoutNs
                        : Math.min(timeoutNs, lookup.beganNs + PATIENCE_NS - System.nanoTime());
        String why;
        try {
            return lookup.found.get(leftNs, TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            why = "no name server says in time what it stands for";
        } catch (ExecutionException e) {
            why = String.valueOf(e.getMessage());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            why = "interrupted while it was looked up";
        }
        if (known == null) {
            throw new UnknownHostException("host name " + name + ": " + why);
        }
        return known;
    }

    /** On a thread of its own: the system's lookup can neither be ended nor waits elsewhere. */
    private Lookup begin() {
        Lookup lookup = new Lookup(new CompletableFuture<>(), System.nanoTime());
        try {
            var _ = Thread.ofPlatform().daemon().name("lookup-" + name).start(() -> run(lookup));
        } catch (OutOfMemoryError e) {
            lookup.found.completeExceptionally(
                    new UnknownHostException("no thread to look it up. " + Threads.remedy()));
            return lookup;
        }
        return lookup;
    }

    private void run(Lookup lookup) {
        InetAddress found = null;
        UnknownHostException failure = new UnknownHostException(name);
        try {
            found = InetAddress.getByName(name);
        } catch (UnknownHostException e) {
            failure = e;
        } finally {
            synchronized (this) {
                running = null;
                last = found == null ? last : found;
            }
        }
        if (found == null) {
            lookup.found.completeExceptionally(failure);
        } else {
            lookup.found.complete(found);
        }
    }
}

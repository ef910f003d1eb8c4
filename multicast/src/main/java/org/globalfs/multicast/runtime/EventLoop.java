package org.globalfs.multicast.runtime;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import org.globalfs.multicast.Entry;
import org.globalfs.multicast.Membership;
import org.globalfs.multicast.MembershipChange;
import org.globalfs.multicast.core.Decision;
import org.globalfs.multicast.core.Effects;
import org.globalfs.multicast.core.LogRecord;
import org.globalfs.multicast.core.Message;
import org.globalfs.multicast.core.Outbound;
import org.globalfs.multicast.core.ReadDecided;
import org.globalfs.multicast.log.MulticastLog;
import org.globalfs.multicast.transport.MessageReceiver;
import org.globalfs.multicast.transport.Transport;
import org.globalfs.multicast.wire.LogCodec;
import org.globalfs.protocol.HostPort;
import org.jspecify.annotations.Nullable;

/**
 * The thread that does all of a process's ordering: sockets, ring cores and the log.
 *
 * <p>A round: take what arrived, let the cores flush, send what needs no disk, hand decisions to
 * the delivery threads, sync the log once for all rings, send what waited for it. While the sync
 * runs nothing else does, and what arrives meanwhile shares the next one: that is the group commit.
 */
final class EventLoop implements Runnable, MessageReceiver {
    private final MulticastLog log;
    private final FatalStop stop;
    private final CatchUpReader catchUpReader;
    private final LogCodec codec = new LogCodec();
    private final StandingRings standing;
    private final ConcurrentLinkedQueue<Runnable> tasks = new ConcurrentLinkedQueue<>();
    private final AtomicBoolean asleep = new AtomicBoolean();
    private final long startNs = System.nanoTime();
    private @Nullable Transport transport;
    private Ring[] rings = {};
    private Ring[] byNumber = {};
    private volatile boolean closing;
    private long nowNs;
    private long newestTimestamp;
    private final ClockWatch clockWatch;

    EventLoop(int node, MulticastLog log, FatalStop stop) {
        this.log = log;
        this.stop = stop;
        this.standing = new StandingRings(log, codec);
        this.clockWatch = new ClockWatch(node);
        this.catchUpReader =
                new CatchUpReader(
                        node,
                        log,
                        (peer, ring, m) -> execute(() -> net().send(peer, ring, m)),
                        stop);
    }

    /** Before the thread starts. */
    void attach(Transport net, List<Ring> all) {
        transport = net;
        rings = all.toArray(Ring[]::new);
        int highest = 0;
        for (Ring ring : rings) {
            highest = Math.max(highest, ring.number);
        }
        Ring[] table = new Ring[highest + 1];
        for (Ring ring : rings) {
            table[ring.number] = ring;
            introduce(net, ring.membership());
            witness(ring);
        }
        byNumber = table;
    }

    /** Members that were added at run time say themselves where they listen. */
    private static void introduce(Transport net, Membership membership) {
        for (Membership.Member member : membership.members()) {
            if (!member.address().isEmpty()) {
                HostPort address = HostPort.parse(member.address());
                net.introduce(
                        member.id(),
                        InetSocketAddress.createUnresolved(address.host(), address.port()));
            }
        }
    }

    private Transport net() {
        Transport net = transport;
        if (net == null) {
            throw new IllegalStateException("no transport yet");
        }
        return net;
    }

    // ---- any thread

    /** Not negative, monotonic: what the cores call now. */
    long now() {
        return System.nanoTime() - startNs;
    }

    /** Runs something on the loop. */
    void execute(Runnable task) {
        tasks.add(task);
        wakeup();
    }

    /** To be called after adding something for the loop to find. */
    void wakeup() {
        if (asleep.get() && asleep.compareAndSet(true, false)) {
            net().wakeup();
        }
    }

    void close() {
        closing = true;
        net().wakeup();
    }

    // ---- the loop's thread

    @Override
    public void run() {
        try {
            while (!closing) {
                turn();
            }
        } catch (Throwable e) {
            stop.fatal("event loop", e);
        } finally {
            release();
        }
    }

    /** Peers see at once that this process is gone. */
    private void release() {
        try {
            catchUpReader.close();
            net().close();
        } catch (IOException e) {
            stop.fatal("closing the connections", e);
        }
    }

    private void turn() throws IOException {
        nowNs = now();
        net().time(System.nanoTime());
        poll();
        nowNs = now();
        net().time(System.nanoTime());
        for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) {
            task.run();
        }
        for (Ring ring : rings) {
            ring.propose();
            if (ring.core.nextTickNs() <= nowNs) {
                ring.reportProgress();
                ring.core.onTick(nowNs, ring.effects);
                log.checkpointed(ring.number, ring.core.trimmable());
                ring.touched = true;
            }
        }
        net().upkeep();
        round();
        standing.carry(byNumber);
    }

    private void poll() throws IOException {
        long timeoutNs = timeoutNs();
        if (timeoutNs <= 0) {
            net().poll(0);
            return;
        }
        asleep.set(true);
        // Whoever added something before it could see the flag is found here.
        boolean idle = tasks.isEmpty() && !closing;
        for (Ring ring : rings) {
            idle &= !ring.hasNewProposals();
        }
        net().poll(idle ? timeoutNs : 0);
        asleep.set(false);
    }

    private long timeoutNs() {
        long next = net().nextUpkeepNs() - System.nanoTime();
        for (Ring ring : rings) {
            if (ring.touched) {
                return 0;
            }
            next = Math.min(next, ring.core.nextTickNs() - nowNs);
        }
        return next;
    }

    private void round() {
        long wallMs = System.currentTimeMillis();
        clockWatch.look(newestTimestamp, wallMs, nowNs);
        boolean sync = false;
        for (Ring ring : rings) {
            if (!ring.touched) {
                continue;
            }
            ring.core.flush(nowNs, wallMs, ring.effects);
            ring.publish(nowNs);
            ring.answerReads();
            if (ring.membershipChanged()) {
                introduce(net(), ring.membership());
            }
            send(ring, ring.effects.sendNow());
            sync |= ring.effects.needsSync();
        }
        net().flush();
        deliver();
        boolean appended = append();
        if (sync) {
            log.sync();
            nowNs = now();
        } else if (appended) {
            log.write();
        }
        for (Ring ring : rings) {
            if (ring.touched) {
                finish(ring);
            }
        }
        net().flush();
    }

    private boolean append() {
        boolean appended = false;
        for (Ring ring : rings) {
            if (ring.touched) {
                for (LogRecord record : ring.effects.persist()) {
                    codec.append(log, ring.number, record);
                    appended = true;
                }
            }
        }
        return appended;
    }

    /**
     * Decisions go to the learner before the sync: others' votes made them, and this member's
     * record is only for later.
     */
    private void deliver() {
        for (Ring ring : rings) {
            if (ring.touched) {
                for (Decision decision : ring.effects.deliver()) {
                    ring.input.offer(decision);
                }
            }
        }
    }

    private void finish(Ring ring) {
        Effects effects = ring.effects;
        ring.touched = false;
        ring.input.readable(ring.core.decided());
        send(ring, effects.sendAfterPersist());
        for (ReadDecided read : effects.reads()) {
            catchUpReader.read(ring.number, read);
        }
        if (effects.behind() >= 0) {
            ring.input.behind(effects.behind());
        }
        witness(ring);
        boolean synced = effects.needsSync();
        long position = effects.position();
        effects.clear();
        if (synced) {
            ring.core.onPersisted(position, nowNs, effects);
            ring.touched = true;
        }
    }

    /** A timestamp seen in one ring is below those given later in any other. */
    private void witness(Ring ring) {
        long timestamp = ring.core.lastTimestamp();
        if (timestamp > newestTimestamp) {
            newestTimestamp = timestamp;
            for (Ring other : rings) {
                other.core.witness(timestamp);
            }
        }
    }

    private void send(Ring ring, List<Outbound> messages) {
        for (Outbound outbound : messages) {
            if (outbound.to() == Outbound.ALL) {
                net().send(ring.others, ring.number, outbound.message());
            } else {
                net().send(outbound.to(), ring.number, outbound.message());
            }
        }
    }

    @Override
    public void onMessage(int from, int number, Message message) {
        Ring ring = number < byNumber.length ? byNumber[number] : null;
        if (ring != null) {
            nowNs = now();
            ring.core.onMessage(from, message, nowNs, ring.effects);
            ring.touched = true;
        }
    }

    @Override
    public void onConnected(int peer) {
        // The cores need no word of it: heartbeats and catch-up requests are repeated.
    }

    /** Any thread: the ring's learner took over a peer's checkpoint. */
    void checkpointInstalled(
            int number, long instance, long lastTimestamp, @Nullable Membership membership) {
        execute(() -> {
            Ring ring = byNumber[number];
            ring.core.witness(lastTimestamp);
            ring.core.onCheckpointInstalled(instance, membership, nowNs, ring.effects);
            ring.touched = true;
        });
    }

    /** Any thread: a merge waits until the ring's logical position is there. */
    void skipWanted(int number, long position) {
        execute(() -> {
            Ring ring = byNumber[number];
            ring.touched |= ring.core.onPropose(new Entry.Skip(position), ring.effects);
        });
    }

    /** Any thread. */
    CompletableFuture<Long> readIndex(int number) {
        CompletableFuture<Long> answer = new CompletableFuture<>();
        execute(() -> byNumber[number].read(nowNs, answer));
        return answer;
    }

    /** Any thread. */
    CompletableFuture<MembershipChange.Outcome> change(int number, MembershipChange change) {
        CompletableFuture<MembershipChange.Outcome> outcome = new CompletableFuture<>();
        execute(() -> {
            Ring ring = byNumber[number];
            outcome.complete(ring.core.onChange(change, nowNs));
            ring.touched = true;
        });
        return outcome;
    }

    /** Any thread: ring 0 has more for this ring to import. */
    void importsDue(int number) {
        execute(() -> {
            byNumber[number].core.onGlobalExecuted();
            byNumber[number].touched = true;
        });
    }
}

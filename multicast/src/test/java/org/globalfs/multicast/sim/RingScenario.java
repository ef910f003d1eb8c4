package org.globalfs.multicast.sim;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.globalfs.multicast.Entry;
import org.globalfs.multicast.MembershipChange;
import org.globalfs.multicast.core.Batch;
import org.globalfs.multicast.core.Decision;
import org.globalfs.multicast.core.Effects;
import org.globalfs.multicast.core.Message;
import org.globalfs.multicast.core.Outbound;
import org.globalfs.multicast.core.ReadDecided;
import org.globalfs.multicast.core.RingConfig;
import org.globalfs.multicast.core.RingCore;
import org.globalfs.protocol.Dissemination;

/**
 * One ring driven step by step by the commands of a scenario, telling what happens: every message
 * takes 1 ms, every sync 1 ms, and a crash loses all that is not synced.
 *
 * <ul>
 *   <li>{@code disseminate ring}: the ring to come does, instead of star.
 *   <li>{@code ring 1 2 3}: members start. {@code run 500}: that many ms pass.
 *   <li>{@code propose 2 a b}: member 2 proposes values. {@code crash 1}, {@code restart 1}.
 *   <li>{@code lose-log 1 77}: the log of member 1, which is down, is gone, in incident 77.
 *   <li>{@code cut 1 2}, {@code isolate 1}, {@code heal}: links. {@code lose Accept 3}: member 3
 *       gets no such message; {@code lose nothing}.
 *   <li>{@code stop-disk 2}, {@code start-disk 2}: syncs hang. {@code trim 1 20}: member 1's log
 *       drops what it can through 20. {@code install 3 20}: member 3's learner took a checkpoint.
 *   <li>{@code spare 4}: a process that is no member starts. {@code change 1 add 4}, {@code change
 *       1 promote 4}, {@code change 1 remove 2}, {@code change 1 replace 2 4}: member 1 is asked
 *       to.
 *   <li>{@code trace Voted}: shows such messages too. {@code state}: one line a member.
 * </ul>
 */
final class RingScenario {

    private static final long DELAY_NS = Simulation.MS;

    /** Scenarios stay as they are when the defaults are tuned. */
    private static final long HEARTBEAT_NS = 100 * Simulation.MS;

    private static final long LEASE_NS = 800 * Simulation.MS;
    private static final long JITTER_NS = 150 * Simulation.MS;
    private static final Set<Class<?>> SHOWN =
            Set.of(
                    Message.PreVote.class,
                    Message.PreVoteReply.class,
                    Message.Prepare.class,
                    Message.Promise.class,
                    Message.Nack.class,
                    Message.Open.class,
                    Message.Rejoin.class,
                    Message.CatchUpRequest.class,
                    Message.CatchUpReply.class,
                    Message.TooOld.class);

    private record Link(int from, int to) {}

    private record Loss(String kind, int to) {}

    private final Simulation simulation = new Simulation(1);
    private final Map<Integer, Member> members = new TreeMap<>();
    private final Set<Link> cut = new HashSet<>();
    private final Set<Loss> losses = new HashSet<>();
    private final Set<String> traced = new HashSet<>();
    private final List<String> told = new ArrayList<>();
    private Dissemination dissemination = Dissemination.STAR;
    private boolean acknowledgedAnywhere = true;

    /** What happened, a line each. */
    List<String> execute(String line) {
        told.clear();
        String[] words = line.trim().split("\\s+");
        switch (words[0]) {
            case "disseminate" ->
                    dissemination = Dissemination.valueOf(words[1].toUpperCase(Locale.ROOT));
            case "acknowledge" -> acknowledgedAnywhere = words[1].equals("anywhere");
            case "ring" -> ring(numbers(words, 1));
            case "run" ->
                    simulation.runUntil(
                            simulation.nowNs() + Long.parseLong(words[1]) * Simulation.MS);
            case "spare" -> spare(Integer.parseInt(words[1]));
            case "change" -> change(member(words[1]), words);
            case "propose" -> propose(member(words[1]), List.of(words).subList(2, words.length));
            case "crash" -> member(words[1]).crash();
            case "restart" -> member(words[1]).start();
            case "lose-log" -> member(words[1]).loseLog(Long.parseLong(words[2]));
            case "cut" -> cut(numbers(words, 1));
            case "isolate" ->
                    members.keySet().forEach(id -> cut(new int[] {Integer.parseInt(words[1]), id}));
            case "heal" -> cut.clear();
            case "lose" -> lose(words);
            case "stop-disk" -> member(words[1]).diskStopped = true;
            case "start-disk" -> member(words[1]).startDisk();
            case "trim" -> member(words[1]).disk.trim(Long.parseLong(words[2]));
            case "install" -> {
                Member member = member(words[1]);
                member.core.onCheckpointInstalled(
                        Long.parseLong(words[2]), null, simulation.nowNs(), member.effects);
                member.settle();
            }
            case "trace" -> traced.add(words[1]);
            case "state" -> members.values().forEach(member -> told.add(member.state()));
            default -> throw new IllegalArgumentException("no such command: " + line);
        }
        return List.copyOf(told);
    }

    private static int[] numbers(String[] words, int from) {
        return Arrays.stream(words).skip(from).mapToInt(Integer::parseInt).toArray();
    }

    private Member member(String id) {
        Member member = members.get(Integer.parseInt(id));
        if (member == null) {
            throw new IllegalArgumentException("no member " + id);
        }
        return member;
    }

    private void ring(int[] ids) {
        for (int id : ids) {
            RingConfig usual = RingConfig.defaults(1, id, ids, id);
            members.put(
                    id,
                    new Member(
                            usual.with(dissemination)
                                    .acknowledging(acknowledgedAnywhere)
                                    .withTimes(HEARTBEAT_NS, LEASE_NS, JITTER_NS)));
        }
        members.values().forEach(Member::start);
    }

    private void spare(int id) {
        int[] first = members.values().iterator().next().config.members();
        Member spare =
                new Member(
                        RingConfig.defaults(1, id, first, id).acknowledging(acknowledgedAnywhere));
        members.put(id, spare);
        spare.start();
    }

    private void change(Member member, String[] words) {
        int id = Integer.parseInt(words[3]);
        MembershipChange change =
                switch (words[2]) {
                    case "add" -> new MembershipChange.AddLearner(id, "");
                    case "promote" -> new MembershipChange.Promote(id);
                    case "remove" -> new MembershipChange.Remove(id);
                    default -> new MembershipChange.Replace(id, Integer.parseInt(words[4]));
                };
        MembershipChange.Outcome outcome = member.core.onChange(change, simulation.nowNs());
        tell(member.id() + ": " + outcome.result() + " " + outcome.detail());
        member.settle();
    }

    private void propose(Member member, List<String> values) {
        for (String value : values) {
            boolean taken =
                    member.core.onPropose(
                            value.getBytes(StandardCharsets.UTF_8), new int[0], member.effects);
            if (!taken) {
                tell(member.id() + " refuses " + value);
            }
        }
        member.settle();
    }

    private void cut(int[] pair) {
        cut.add(new Link(pair[0], pair[1]));
        cut.add(new Link(pair[1], pair[0]));
    }

    private void lose(String[] words) {
        if (words[1].equals("nothing")) {
            losses.clear();
        } else {
            losses.add(new Loss(words[1], Integer.parseInt(words[2])));
        }
    }

    private void tell(String what) {
        told.add(String.format(Locale.ROOT, "%d ms: %s", simulation.nowNs() / Simulation.MS, what));
    }

    private void send(int from, int to, Message message) {
        String kind = message.getClass().getSimpleName();
        if (cut.contains(new Link(from, to)) || losses.contains(new Loss(kind, to))) {
            return;
        }
        simulation.after(
                DELAY_NS,
                () -> {
                    Member receiver = members.get(to);
                    if (receiver != null && receiver.up) {
                        if (SHOWN.contains(message.getClass()) || traced.contains(kind)) {
                            tell(from + " -> " + to + " " + text(message));
                        }
                        receiver.on(core ->
                                core.onMessage(
                                        from, message, simulation.nowNs(), receiver.effects));
                    }
                });
    }

    private static String text(Message message) {
        return message.toString()
                .replaceAll("PreVote\\[generation=0, ", "PreVote[")
                .replaceAll("AcceptedValue\\[instance=(\\d+), ballot=([\\d.]+), batch=", "[$1 $2 ")
                .replaceAll("Command\\[\\d+, (\\d+) bytes, \\[]]", "Command[$1 bytes]")
                .replaceAll("lastTimestamp=\\d+, ", "");
    }

    private static String text(Batch batch) {
        List<String> values = new ArrayList<>();
        for (Entry entry : batch.entries()) {
            values.add(
                    entry instanceof Entry.Command command
                            ? new String(command.value(), StandardCharsets.UTF_8)
                            : entry.toString());
        }
        return String.join(" ", values);
    }

    /** A member as the scenario sees it. */
    private final class Member {
        private final RingConfig config;
        private final SimDisk disk = new SimDisk();
        private RingCore core;
        private Effects effects = new Effects();
        private final List<Runnable> hangingSyncs = new ArrayList<>();
        private boolean up;
        private boolean diskStopped;
        private int incarnation;
        private int toldCoordinator = -1;
        private boolean toldLease;
        private boolean toldRejoining;

        Member(RingConfig config) {
            this.config = config;
            this.core = RingCore.recover(config, disk.recover(), null, 0);
        }

        int id() {
            return config.self();
        }

        void start() {
            up = true;
            incarnation++;
            effects = new Effects();
            core = RingCore.recover(config, disk.recover(), null, simulation.nowNs());
            tick(incarnation);
        }

        void crash() {
            up = false;
            incarnation++;
            hangingSyncs.clear();
            toldCoordinator = -1;
            toldLease = false;
            disk.lose();
        }

        void loseLog(long incident) {
            disk.replace(incident, core.decided(), core.lastTimestamp(), core.membership());
        }

        private void tick(int of) {
            if (up && of == incarnation) {
                on(c -> c.onTick(simulation.nowNs(), effects));
                simulation.after(5 * Simulation.MS, () -> tick(of));
            }
        }

        void on(Consumer<RingCore> event) {
            event.accept(core);
            settle();
        }

        void settle() {
            core.flush(simulation.nowNs(), simulation.nowNs() / Simulation.MS, effects);
            Effects round = effects;
            effects = new Effects();
            disk.append(round.persist());
            round.sendNow().forEach(this::send);
            if (round.needsSync()) {
                long end = disk.end();
                int of = incarnation;
                Runnable done = () -> synced(of, end, round);
                if (diskStopped) {
                    hangingSyncs.add(done);
                } else {
                    simulation.after(DELAY_NS, done);
                }
            }
            for (Decision decision : round.deliver()) {
                tell(id() + " delivers " + decision.instance() + ": " + text(decision.batch()));
            }
            round.reads().forEach(this::answer);
            if (round.behind() >= 0) {
                tell(id() + " is behind: a log begins at " + round.behind());
            }
            tellChanges();
        }

        private void synced(int of, long end, Effects round) {
            if (up && of == incarnation) {
                disk.synced(end);
                round.sendAfterPersist().forEach(this::send);
                on(c -> c.onPersisted(round.position(), simulation.nowNs(), effects));
            }
        }

        void startDisk() {
            diskStopped = false;
            List<Runnable> syncs = new ArrayList<>(hangingSyncs);
            hangingSyncs.clear();
            syncs.forEach(Runnable::run);
        }

        private void send(Outbound outbound) {
            List<Integer> to =
                    outbound.to() == Outbound.ALL
                            ? core.membership().others(id())
                            : List.of(outbound.to());
            to.forEach(other -> RingScenario.this.send(id(), other, outbound.message()));
        }

        private void answer(ReadDecided read) {
            Message answer =
                    read.from() < disk.firstAvailable()
                            ? new Message.TooOld(read.from(), disk.firstAvailable(), read.through())
                            : new Message.CatchUpReply(
                                    read.from(),
                                    disk.read(
                                            read.from(), Math.min(read.through(), read.from() + 2)),
                                    read.through());
            send(new Outbound(read.peer(), answer));
        }

        private void tellChanges() {
            if (core.coordinator() != toldCoordinator) {
                toldCoordinator = core.coordinator();
                if (core.leading()) {
                    tell(id() + " leads in " + core.ballot());
                } else {
                    tell(
                            id()
                                    + (toldCoordinator < 0
                                            ? " follows nobody"
                                            : " follows " + toldCoordinator));
                }
            }
            if (core.rejoining() != toldRejoining) {
                toldRejoining = core.rejoining();
                tell(id() + (toldRejoining ? " takes no part" : " takes part again"));
            }
            boolean lease = core.leaseInstance(simulation.nowNs()) >= 0;
            if (lease != toldLease) {
                toldLease = lease;
                tell(id() + (lease ? " has the lease" : " has no lease"));
            }
        }

        String state() {
            if (!up) {
                return id() + " down";
            }
            return String.format(
                    Locale.ROOT,
                    "%d coordinator %d, promised %s, decided %d, read at %d%s",
                    id(),
                    core.coordinator(),
                    core.ballot(),
                    core.decided(),
                    core.leaseInstance(simulation.nowNs()),
                    core.membership().generation() == 0 ? "" : ", " + core.membership());
        }
    }
}

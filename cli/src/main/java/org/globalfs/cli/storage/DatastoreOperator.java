package org.globalfs.cli.storage;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.globalfs.cli.ExitCode;
import org.globalfs.cli.Failure;
import org.globalfs.cli.status.Columns;
import org.globalfs.cli.storage.StorageNodes.Node;
import org.globalfs.datastore.placement.Placement;
import org.globalfs.datastore.wire.NodeStatistics;
import org.globalfs.datastore.wire.PassState;
import org.globalfs.datastore.wire.RepairProgress;
import org.globalfs.datastore.wire.StorageConnection;
import org.globalfs.protocol.HostPort;
import org.globalfs.protocol.discovery.BlockCode;
import org.globalfs.protocol.discovery.Epoch;
import org.globalfs.protocol.discovery.StorageSite;
import org.globalfs.protocol.discovery.ZooKeeperDiscovery;
import org.jspecify.annotations.Nullable;

/**
 * Shows storage nodes, takes them out of the placement and back in, and says how blocks are coded.
 */
public final class DatastoreOperator {
    private static final int ANSWER_MS = 5_000;
    private static final long LOOK_MS = 1_000;
    private static final int TOLD_PROBLEMS = 3;
    private static final long PATIENCE_NS = PassOperator.Times.DEFAULT.patienceMs() * 1_000_000L;

    private final String cluster;
    private final ZooKeeperDiscovery discovery;
    private final StorageNodes nodes;
    private final Consumer<String> out;
    private final ProgressView view;

    /**
     * @param out told what happens, a line each
     * @param view shows how far a drain is
     */
    public DatastoreOperator(
            String cluster, ZooKeeperDiscovery discovery, Consumer<String> out, ProgressView view) {
        this.cluster = cluster;
        this.discovery = discovery;
        nodes = new StorageNodes(discovery, discovery);
        this.out = out;
        this.view = view;
    }

    /**
     * Says of each node what it holds, and what is left to do for its chunks; and of each cache how
     * it is used.
     */
    public void status() {
        Epoch epoch = discovery.newest();
        List<List<String>> rows = new ArrayList<>();
        List<String> late = new ArrayList<>();
        rows.add(
                List.of(
                        "NODE",
                        "REGION",
                        "DC",
                        "STATE",
                        "CHUNKS",
                        "DATA",
                        "USED",
                        "KEPT FOR OTHERS",
                        "DAMAGED",
                        "TO MOVE",
                        "TO REBUILD"));
        for (Node node : nodes.of(epoch).values()) {
            NodeStatistics said = statistics(node);
            List<String> row = new ArrayList<>();
            row.addAll(List.of(node.id(), node.region(), node.datacenter(), state(node, said)));
            if (said == null) {
                row.addAll(List.of("", "", "", "", "", "", ""));
            } else {
                row.add(Long.toString(said.chunks()));
                row.add(Columns.bytes(said.liveBytes()));
                row.add(
                        Columns.bytes(said.usedBytes())
                                + " of "
                                + Columns.bytes(said.capacityBytes()));
                row.add(Long.toString(said.handoffChunks()));
                row.add(Long.toString(said.corruptChunks()));
                row.add(Long.toString(said.misplacedChunks()));
                row.add(Long.toString(said.missingChunks()));
                if (said.isScrubLate()) {
                    late.add(LateScrubs.line(node.id(), said));
                }
            }
            rows.add(row);
        }
        out.accept("placement epoch " + epoch.number() + "\n");
        out.accept(Columns.of(rows).stripTrailing());
        late.forEach(out);
        CacheTable.of(cluster, discovery).ifPresent(caches -> out.accept("\n" + caches));
    }

    private static String state(Node node, @Nullable NodeStatistics said) {
        if (node.address() == null) {
            return node.placed() ? "DOWN" : "drained, down";
        }
        if (said == null) {
            return "SILENT";
        }
        if (!said.writable()) {
            return "DISK FAILED";
        }
        return node.placed() ? "up" : said.chunks() == 0 ? "drained" : "draining";
    }

    /**
     * Takes a node, up or down, out of the placement: others get its chunks.
     *
     * @param waits until it holds none any more
     */
    public void drain(String id, boolean waits) throws Failure, IOException {
        Node node = nodes.node(id);
        if (holdsForEver(node)) {
            throw new Failure(
                    ExitCode.FAILED,
                    id
                            + " does not give away what it holds, as its repairBandwidth is 0: set it"
                            + " above 0 in its server's file and start that again; or stop "
                            + id
                            + " first, and the others make its chunks anew");
        }
        HeldCodes held = HeldCodes.of(nodes.all().values(), cluster, ANSWER_MS);
        if (!held.silent().isEmpty()) {
            out.accept(
                    "not known, as it does not answer: how what it holds is coded, of "
                            + String.join(", ", held.silent()));
        }
        AtomicReference<@Nullable String> shortage = new AtomicReference<>();
        discovery.change(epoch -> {
            Epoch next = epoch.drain(id);
            shortage.set(epoch.lists(id) ? held.shortage(epoch, next, node) : null);
            return shortage.get() == null ? next : epoch;
        });
        if (shortage.get() != null) {
            throw new Failure(
                    ExitCode.FAILED,
                    "without " + id + " blocks could be kept no longer: " + shortage.get());
        }
        out.accept(id + " has no place any more: nothing new goes there");
        if (node.address() == null) {
            out.accept(
                    "it is down: the others make its chunks anew ('globalfs datastore status' shows what is left)");
            tellWhoDoesNotRepair(node);
        } else if (waits) {
            awaitEmpty(node);
        }
    }

    private boolean holdsForEver(Node node) {
        NodeStatistics said = statistics(node);
        RepairProgress repair = repair(node);
        return said != null
                && said.chunks() > 0
                && repair != null
                && repair.state() == PassState.OFF;
    }

    /** They would have to give the node its chunks, or to make those anew that it had. */
    private void tellWhoDoesNotRepair(Node node) {
        List<String> off = new ArrayList<>();
        for (Node other : nodes.all().values()) {
            RepairProgress repair = other.id().equals(node.id()) ? null : repair(other);
            if (repair != null && repair.state() == PassState.OFF) {
                off.add(other.id());
            }
        }
        if (!off.isEmpty()) {
            out.accept(
                    "these nodes make no chunks anew and give none away, as their repairBandwidth is"
                            + " 0: set it above 0 in their servers' files and start those again: "
                            + String.join(", ", off));
        }
    }

    /** Null: it does not say. */
    private @Nullable RepairProgress repair(Node node) {
        HostPort address = node.address();
        if (address == null) {
            return null;
        }
        try (StorageConnection connection =
                new StorageConnection(address, cluster, node.id(), ANSWER_MS)) {
            return connection.repair();
        } catch (IOException e) {
            return null;
        }
    }

    /** Says how new blocks are coded. */
    public void showCodes() {
        Epoch epoch = discovery.newest();
        BlockCode fitting = Placement.of(epoch, 0).code();
        out.accept("regional  " + epoch.regional());
        out.accept(
                "global    "
                        + epoch.global()
                        + (epoch.global().equals(fitting)
                                ? ""
                                : fitting == null
                                        ? " (" + Placement.of(epoch, 0).shortage() + ")"
                                        : " (" + fitting + " on the nodes there are)"));
    }

    /**
     * Has new blocks coded otherwise; what is there stays as it is.
     *
     * @param regional null: as before
     * @param global null: as before
     */
    public void code(@Nullable BlockCode regional, @Nullable BlockCode global)
            throws Failure, IOException {
        AtomicReference<@Nullable String> shortage = new AtomicReference<>();
        discovery.change(epoch -> {
            Epoch next =
                    epoch.coded(
                            regional == null ? epoch.regional() : regional,
                            global == null ? epoch.global() : global);
            shortage.set(unplaceable(epoch, next));
            return shortage.get() == null ? next : epoch;
        });
        if (shortage.get() != null) {
            throw new Failure(
                    ExitCode.FAILED, "nothing could be written any more: " + shortage.get());
        }
        showCodes();
    }

    /** Regions in which only the first of the epochs can place blocks. */
    private static @Nullable String unplaceable(Epoch before, Epoch after) {
        Set<Integer> regions = new TreeSet<>();
        regions.add(0);
        for (StorageSite site : after.nodes()) {
            regions.add(site.partition());
        }
        for (int region : regions) {
            Placement next = Placement.of(after, region);
            if (next.code() == null && Placement.of(before, region).code() != null) {
                return next.shortage();
            }
        }
        return null;
    }

    private void awaitEmpty(Node node) throws Failure {
        NodeDrain drain = new NodeDrain(node.id(), System.nanoTime());
        String work = "";
        while (true) {
            NodeStatistics said = statistics(node.id(), nodes.address(node.id()));
            long nowNs = System.nanoTime();
            if (said == null) {
                drain.unheard();
            } else {
                drain.heard(said, nowNs);
            }
            view.show(List.of(drain.row(nowNs)));
            if (drain.isEmpty()) {
                out.accept(node.id() + " holds nothing any more: it may be stopped");
                return;
            }
            if (drain.silentNs(nowNs) >= PATIENCE_NS) {
                throw new Failure(
                        ExitCode.FAILED,
                        node.id()
                                + " does not answer: start it, or let the others make its"
                                + " chunks anew");
            }
            if (drain.hasStalled(nowNs)) {
                String before = work;
                work = work(node);
                if (work.isEmpty() || work.equals(before)) {
                    tellItStalls(node);
                }
            }
            pause();
        }
    }

    /** How far its pass is, which makes anew before it moves anything; empty: none runs. */
    private String work(Node node) {
        RepairProgress repair = repair(node);
        return repair == null || repair.state() != PassState.RUNNING
                ? ""
                : repair.pass() + "/" + repair.looked() + "/" + repair.rebuilt();
    }

    private void tellItStalls(Node node) {
        view.say(
                "nothing has moved for a minute: are other nodes down, silent or full? See"
                        + " 'globalfs datastore status'; the drain goes on without this"
                        + " command");
        RepairProgress repair = repair(node);
        if (repair != null) {
            repair.problems().stream().limit(TOLD_PROBLEMS).forEach(view::say);
        }
    }

    private static void pause() throws Failure {
        try {
            Thread.sleep(LOOK_MS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new Failure(ExitCode.FAILED, "interrupted", e);
        }
    }

    /** Lets a drained node take its place again, at once if it runs. */
    public void readmit(String id) throws Failure, IOException {
        Node node = nodes.node(id);
        if (!discovery.newest().drained().contains(id)) {
            out.accept(id + " is not drained, and keeps its place");
            return;
        }
        discovery.change(epoch -> epoch.readmit(id));
        out.accept(id + " takes its place again as soon as it runs");
        tellWhoDoesNotRepair(node);
    }

    private @Nullable NodeStatistics statistics(Node node) {
        return statistics(node.id(), node.address());
    }

    private @Nullable NodeStatistics statistics(String id, @Nullable HostPort address) {
        if (address == null) {
            return null;
        }
        try (StorageConnection connection =
                new StorageConnection(address, cluster, id, ANSWER_MS)) {
            return connection.statistics();
        } catch (IOException e) {
            return null;
        }
    }
}

package org.globalfs.oracle;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import org.globalfs.oracle.policy.Chooser;
import org.globalfs.oracle.policy.Use;
import org.globalfs.protocol.Errno;
import org.globalfs.protocol.config.Topology;
import org.globalfs.protocol.wire.ExplainReply;
import org.globalfs.protocol.wire.ExplainRequest;
import org.globalfs.protocol.wire.LocateReply;
import org.globalfs.protocol.wire.LocateRequest;
import org.globalfs.protocol.wire.RegionUse;

/** Says which rule holds for a directory, who uses it, and what comes of that. */
final class Explainer {

    private final Topology topology;
    private final int own;
    private final Locator locator;
    private final PolicyWatch policy;
    private final UseMonitor monitor;
    private final BooleanSupplier rulesFound;

    /**
     * @param own the partition of the oracle's region
     * @param rulesFound whether the monitor knows the directories of all rules of the policy
     */
    Explainer(
            Topology topology,
            int own,
            Locator locator,
            PolicyWatch policy,
            UseMonitor monitor,
            BooleanSupplier rulesFound) {
        this.topology = topology;
        this.own = own;
        this.locator = locator;
        this.policy = policy;
        this.monitor = monitor;
        this.rulesFound = rulesFound;
    }

    ExplainReply explain(ExplainRequest request) {
        LocateReply where = locator.locate(new LocateRequest().setIno(request.getIno()));
        if (where.getErrno() != 0) {
            return new ExplainReply(where.getErrno());
        }
        monitor.report(own, request.getWay());
        Optional<Chooser.Explanation> known = explain(request.getIno(), where.getPartition());
        if (known.isEmpty()) {
            return new ExplainReply(Errno.EINVAL.number()); // it is not on the way
        }
        Chooser.Explanation explanation = known.get();
        List<RegionUse> regions = new ArrayList<>();
        for (Topology.Region region : topology.regions()) {
            explanation
                    .use(region.partition())
                    .ifPresent(use ->
                            regions.add(new RegionUse(region.name(), use.reads(), use.writes())));
        }
        return new ExplainReply(0)
                .setPartition(where.getPartition())
                .setRule(explanation.rule().text())
                .setRegions(regions)
                .setVerdict(explanation.verdict() + reservations());
    }

    /** What the verdict does not take into account, a line each. */
    private String reservations() {
        String older =
                policy.problem()
                        .map(problem -> "\nan older policy is in force: " + problem)
                        .orElse("");
        return rulesFound.getAsBoolean()
                ? older
                : older
                        + "\nthe rules' directories were not all found, as replicas do not answer:"
                        + " nothing moves until they are";
    }

    /** Seen from the region that has it move, or else from the one that would come first. */
    private Optional<Chooser.Explanation> explain(long ino, int home) {
        Optional<Chooser.Explanation> best = Optional.empty();
        double most = -1;
        for (Topology.Region region : topology.regions()) {
            Chooser seenFrom = new Chooser(region.name(), region.partition());
            Optional<Chooser.Explanation> seen = monitor.explain(ino, seenFrom);
            if (seen.isEmpty() || seen.get().moves()) {
                return seen;
            }
            if (region.partition() == home) {
                continue; // it may only give it to all
            }
            double operations = seen.get().use(region.partition()).map(Use::operations).orElse(0.0);
            if (operations > most) {
                best = seen;
                most = operations;
            }
        }
        return best;
    }
}

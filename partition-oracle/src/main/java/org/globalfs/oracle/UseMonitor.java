package org.globalfs.oracle;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.LongPredicate;
import java.util.function.LongSupplier;
import org.globalfs.oracle.policy.Choice;
import org.globalfs.oracle.policy.Chooser;
import org.globalfs.oracle.policy.Rules;
import org.globalfs.oracle.policy.UseRates;
import org.globalfs.protocol.config.ConfigException;
import org.globalfs.protocol.config.PolicyFile;
import org.globalfs.protocol.placement.MoveRule;
import org.globalfs.protocol.placement.TreeMove;
import org.globalfs.protocol.wire.DirectoryUse;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What all regions do where, as far as it was reported to this oracle, and what its own region's
 * mounts did since the others were told. Thread-safe.
 */
final class UseMonitor {

    private static final int MOST_DIRECTORIES = 50_000;

    private static final Logger LOG = LoggerFactory.getLogger(UseMonitor.class);

    private final int own;
    private final Set<String> regions;
    private final Chooser chooser;
    private final LongSupplier clockMs;
    private final UseRates rates;
    private Rules rules;
    private Map<Long, DirectoryUse> untold = new HashMap<>();

    /**
     * @param name the oracle's region
     * @param own its partition
     * @param regions all there are
     * @param clockMs runs evenly
     */
    UseMonitor(String name, int own, Set<String> regions, Rules rules, LongSupplier clockMs) {
        this.own = own;
        this.regions = Set.copyOf(regions);
        this.chooser = new Chooser(name, own);
        this.clockMs = clockMs;
        this.rules = rules;
        this.rates = new UseRates(MOST_DIRECTORIES, rules, clockMs.getAsLong());
    }

    /** What users of a region did; those of the own region are still to be told to the others. */
    synchronized void report(int region, List<DirectoryUse> uses) {
        rates.report(region, uses, clockMs.getAsLong());
        uses.forEach(this::noteStatement);
        if (region != own) {
            return;
        }
        for (DirectoryUse use : uses) {
            DirectoryUse sum = untold.get(use.getIno());
            if (sum == null && untold.size() < MOST_DIRECTORIES) {
                untold.put(use.getIno(), use.deepCopy());
            } else if (sum != null) {
                sum.setReads(sum.getReads() + use.getReads());
                sum.setWrites(sum.getWrites() + use.getWrites());
                sum.setAstray(sum.getAstray() + use.getAstray());
                sum.setPartition(use.getPartition());
                if (use.isSetPolicy()) {
                    sum.setPolicy(use.getPolicy());
                }
                if (use.getParent() != 0) {
                    sum.setParent(use.getParent());
                }
            }
        }
    }

    private void noteStatement(DirectoryUse use) {
        if (!use.isSetPolicy()) {
            return;
        }
        String text = use.getPolicy();
        MoveRule rule = null;
        if (!text.isEmpty()) {
            String directory = MoveRule.ATTRIBUTE + " of inode " + use.getIno();
            try {
                rule = PolicyFile.ofAttribute(directory, text, regions);
            } catch (ConfigException e) {
                // Mounts take only what is right; another one of an older cluster, say, did.
                LOG.warn("{} is left aside: {}", directory, e.getMessage());
                rule = MoveRule.off(directory);
            }
        }
        rates.states(use.getIno(), rule);
    }

    /** What the other regions have not been told; the caller tells them. */
    synchronized List<DirectoryUse> takeUntold() {
        List<DirectoryUse> result = new ArrayList<>(untold.values());
        untold = new HashMap<>();
        return result;
    }

    synchronized void rules(RuleFinder.Found found) {
        rules = found.rules();
        rates.rules(rules);
        rates.report(own, found.ways(), clockMs.getAsLong());
    }

    synchronized List<Choice> choices(LongPredicate resting) {
        return chooser.choose(rates, resting, clockMs.getAsLong());
    }

    /**
     * What goes along when the tree at {@code ino} moves: neither what has a rule of its own, nor
     * what has found another home.
     *
     * @param home where it has lived: or {@link TreeMove.Scope#ANY}
     */
    synchronized TreeMove.Scope scope(long ino, int home) {
        Set<Long> apart = new HashSet<>(rules.byDirectory().keySet());
        apart.remove(ino);
        return new TreeMove.Scope(home, apart, rules.above(), true);
    }

    synchronized void moved(long ino, int partition) {
        rates.moved(ino, partition, clockMs.getAsLong());
    }

    synchronized void livesIn(long ino, int partition) {
        rates.livesIn(ino, partition, clockMs.getAsLong());
    }

    /** As the oracle of another region would see it if it had heard the same. */
    synchronized Optional<Chooser.Explanation> explain(long ino, Chooser seenFrom) {
        return Optional.ofNullable(seenFrom.explain(rates, ino, clockMs.getAsLong()));
    }

    synchronized int size() {
        return rates.size();
    }
}

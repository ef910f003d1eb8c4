package org.globalfs.oracle;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.globalfs.oracle.policy.Rules;
import org.globalfs.protocol.Errno;
import org.globalfs.protocol.placement.MovePolicy;
import org.globalfs.protocol.placement.MoveRule;
import org.globalfs.protocol.wire.DirectoryUse;
import org.globalfs.protocol.wire.GetAttributesOp;
import org.globalfs.protocol.wire.ReadOp;

/** Finds the directories that a policy's rules are about. */
final class RuleFinder {

    private final Locator locator;
    private final TreeReader tree;

    /**
     * @param ways the rules' directories and those above them, unused, so that they are known
     */
    record Found(Rules rules, List<DirectoryUse> ways) {}

    RuleFinder(Locator locator, TreeReader tree) {
        this.locator = locator;
        this.tree = tree;
    }

    /**
     * Follows every rule's path.
     *
     * @return nothing when a replica did not answer is known
     */
    Optional<Found> find(MovePolicy policy) {
        Map<Long, MoveRule> byDirectory = new HashMap<>();
        Set<Long> above = new HashSet<>();
        Map<Long, DirectoryUse> ways = new LinkedHashMap<>();
        for (MoveRule rule : policy.rules()) {
            if (rule.isRoot()) {
                continue;
            }
            Locator.Way way =
                    locator.way(ByteBuffer.wrap(rule.path().getBytes(StandardCharsets.UTF_8)));
            if (way.errno() == Errno.EAGAIN.number()) {
                return Optional.empty();
            }
            if (way.errno() != 0 || !way.nodes().getLast().directory()) {
                continue;
            }
            List<Locator.Node> onTheWay = way.nodes().subList(0, way.nodes().size() - 1);
            onTheWay.forEach(node -> above.add(node.ino()));
            byDirectory.put(way.nodes().getLast().ino(), rule);
            if (!add(way, ways)) {
                return Optional.empty();
            }
        }
        return Optional.of(
                new Found(
                        new Rules(byDirectory, above, policy.root()),
                        new ArrayList<>(ways.values())));
    }

    private boolean add(Locator.Way way, Map<Long, DirectoryUse> ways) {
        long parent = way.nodes().getFirst().ino();
        for (Locator.Node node : way.nodes()) {
            if (!ways.containsKey(node.ino())) {
                ReadOp op = ReadOp.getAttributes(new GetAttributesOp(node.ino()));
                TreeReader.Read read = tree.read(node.home(), op);
                if (read == null) {
                    return false;
                }
                ways.put(node.ino(), new DirectoryUse(node.ino(), parent, read.partition(), 0, 0));
            }
            parent = node.ino();
        }
        return true;
    }
}

package org.globalfs.replica.state.check;

import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.globalfs.replica.state.check.CheckReport.Crossing;
import org.globalfs.replica.state.model.Partitions;

/**
 * Compares what partitions say of directories whose parents are in other partitions: each has one
 * name, where it believes to lie, and leads to the root.
 */
public final class Crossings {

    private final Map<Long, Long> parents = new HashMap<>();
    private final Map<Long, Long> tops = new HashMap<>();
    private final Set<String> faults = new TreeSet<>();

    private Crossings() {}

    /**
     * What is wrong, a line each; nothing unless something was just changing.
     *
     * @param hanging of all partitions
     * @param held of all partitions
     */
    public static Set<String> faults(Collection<Crossing> hanging, Collection<Crossing> held) {
        Crossings crossings = new Crossings();
        hanging.forEach(each -> crossings.parents.put(each.ino(), each.parent()));
        held.forEach(crossings::name);
        hanging.forEach(crossings::hasName);
        hanging.forEach(crossings::reachesRoot);
        return crossings.faults;
    }

    private void fault(String format, Object first, Object second) {
        faults.add(format.formatted(first, second));
    }

    private void name(Crossing name) {
        Long believed = parents.get(name.ino());
        if (believed == null || believed != name.parent()) {
            fault(
                    "directory %x has a name in %x, but does not lie there",
                    name.ino(), name.parent());
        } else if (tops.put(name.ino(), name.top()) != null) {
            fault("directory %x has more than one name in %x", name.ino(), name.parent());
        }
    }

    private void hasName(Crossing directory) {
        if (!tops.containsKey(directory.ino())) {
            fault("directory %x has no name in %x", directory.ino(), directory.parent());
        }
    }

    private void reachesRoot(Crossing from) {
        Set<Long> walk = new HashSet<>();
        Long at = from.ino();
        while (at != null && at != Partitions.ROOT) {
            if (!walk.add(at)) {
                fault("directory %x lies below itself, or below %x", from.ino(), at);
                return;
            }
            at = tops.get(at);
        }
    }
}

package org.globalfs.protocol;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * How much of something the control group of this process, or one that it lies in, lets all of its
 * processes have: what a container, or TasksMax and MemoryMax of a systemd unit, set.
 *
 * @param most {@link Long#MAX_VALUE}: unlimited, or not known
 * @param file that says so
 */
public record GroupLimit(long most, Path file) {
    private static final Logger LOG = LoggerFactory.getLogger(GroupLimit.class);
    private static final GroupLimit NONE = new GroupLimit(Long.MAX_VALUE, Path.of(""));

    /** Who keeps to it, and the file that says so in the first and the second kind of groups. */
    enum Controller {
        PIDS("pids", "pids.max", "pids.max"),
        MEMORY("memory", "memory.limit_in_bytes", "memory.max");

        private final String title;
        private final String first;
        private final String second;

        Controller(String title, String first, String second) {
            this.title = title;
            this.first = first;
            this.second = second;
        }
    }

    /** Of this process. */
    public static GroupLimit threads() {
        return of(Controller.PIDS);
    }

    /** Bytes of memory, of this process. */
    public static GroupLimit memory() {
        return of(Controller.MEMORY);
    }

    private static GroupLimit of(Controller controller) {
        try {
            return of(
                    controller,
                    Files.readAllLines(Path.of("/proc/self/cgroup")),
                    Files.readAllLines(Path.of("/proc/self/mountinfo")));
        } catch (IOException e) {
            LOG.debug("the limit of the control group is not known: {}", e.toString());
            return NONE;
        }
    }

    /**
     * @param groups as in /proc/PID/cgroup: HIERARCHY:CONTROLLERS:GROUP
     * @param mounts as in /proc/PID/mountinfo
     */
    static GroupLimit of(Controller controller, List<String> groups, List<String> mounts)
            throws IOException {
        String group = null;
        boolean second = false;
        for (String line : groups) {
            String[] parts = line.split(":", 3);
            boolean first =
                    parts.length == 3 && List.of(parts[1].split(",")).contains(controller.title);
            if (first || (line.startsWith("0::") && group == null)) {
                group = parts[2];
                second = !first;
            }
        }
        if (group == null) {
            return NONE;
        }
        for (String line : mounts) {
            String[] halves = line.split(" - ", 2);
            String[] where = halves[0].split(" ");
            String[] what = halves.length == 2 ? halves[1].split(" ") : new String[0];
            if (where.length < 5 || what.length < 3) {
                continue;
            }
            if (second
                    ? what[0].equals("cgroup2")
                    : what[0].equals("cgroup")
                            && List.of(what[2].split(",")).contains(controller.title)) {
                return least(
                        Path.of(where[4]),
                        within(group, where[3]),
                        second ? controller.second : controller.first);
            }
        }
        return NONE;
    }

    /** A container can see its own group as the root of what is mounted. */
    private static String within(String group, String root) {
        String below = group.startsWith(root) ? group.substring(root.length()) : "";
        return below.contains("..") ? "" : below.replaceFirst("^/", "");
    }

    private static GroupLimit least(Path mounted, String group, String name) throws IOException {
        GroupLimit least = NONE;
        for (Path at = mounted.resolve(group);
                at != null && at.startsWith(mounted);
                at = at.getParent()) {
            Path file = at.resolve(name);
            // The root of all groups has none.
            String text = Files.exists(file) ? Files.readString(file).strip() : "";
            if (text.matches("\\d{1,18}") && Long.parseLong(text) < least.most) {
                least = new GroupLimit(Long.parseLong(text), file);
            }
        }
        return least;
    }
}

package org.globalfs.protocol.config;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.globalfs.protocol.placement.MovePolicy;
import org.globalfs.protocol.placement.MoveRule;

/**
 * Reads {@code policy.yaml}: a list {@code rules}, each with a {@code path} and either {@code
 * region}, or {@code move} and its limits.
 */
public final class PolicyFile {

    private static final long MOST_OPERATIONS = 1_000_000_000_000L;
    private static final String NOTHING_SAID = "is missing, as is region";
    private static final double MOST_HYSTERESIS = 1_000;
    private static final List<String> LIMITS =
            List.of(
                    "global",
                    "reads",
                    "writes",
                    "window",
                    "hysteresis",
                    "residence",
                    "inodesPerHour",
                    "bytesPerHour");

    private PolicyFile() {}

    /**
     * @param regions what a rule may name
     * @throws ConfigException names the file, the line, what is wrong there and what to do
     */
    public static MovePolicy read(Path file, Set<String> regions) throws ConfigException {
        return read(Yaml.read(file), Optional.of(regions));
    }

    /** As the other one, where any name may be a region's. */
    public static MovePolicy read(Path file) throws ConfigException {
        return read(Yaml.read(file), Optional.empty());
    }

    static MovePolicy read(Yaml yaml, Optional<Set<String>> regions) throws ConfigException {
        List<MoveRule> rules = new ArrayList<>();
        Set<String> paths = new HashSet<>();
        for (Yaml entry : yaml.list("rules")) {
            MoveRule rule = rule(entry, regions);
            if (!paths.add(rule.path())) {
                throw entry.error("path", "'" + rule.path() + "' has two rules: keep one");
            }
            rules.add(rule);
        }
        yaml.finish();
        return new MovePolicy(rules);
    }

    /**
     * The rule that a directory's {@link MoveRule#ATTRIBUTE} says, such as {@code move: eager,
     * residence: 1min}.
     *
     * @param directory takes the place of its path
     * @param regions what it may name
     * @throws ConfigException says what is wrong and what to do
     */
    public static MoveRule ofAttribute(String directory, String text, Set<String> regions)
            throws ConfigException {
        Yaml yaml = Yaml.parse(MoveRule.ATTRIBUTE, "{" + text + "}");
        return rule(yaml, directory, Optional.of(regions));
    }

    private static MoveRule rule(Yaml yaml, Optional<Set<String>> regions) throws ConfigException {
        return rule(yaml, path(yaml), regions);
    }

    private static MoveRule rule(Yaml yaml, String path, Optional<Set<String>> regions)
            throws ConfigException {
        Optional<String> region = yaml.optionalText("region");
        boolean stated = yaml.has("move");
        // What may become every region's moves by how it is used, if nothing else is said.
        boolean global = region.isEmpty() && yaml.has("global");
        boolean says = stated || global;
        MoveRule.Kind kind =
                yaml.choice(
                        "move",
                        MoveRule.Kind.class,
                        global ? MoveRule.Kind.THRESHOLD : MoveRule.Kind.OFF);
        if (region.isEmpty() && !says && LIMITS.stream().noneMatch(yaml::has)) {
            yaml.finish(); // more likely a misspelt one
        }
        if (region.isPresent() == says) {
            throw yaml.error(
                    says ? "region" : "move",
                    says ? "and move exclude each other: keep one" : NOTHING_SAID);
        }
        MoveRule rule =
                switch (kind) {
                    case OFF ->
                            region.isPresent()
                                    ? MoveRule.pinned(path, known(yaml, region.get(), regions))
                                    : MoveRule.off(path);
                    case EAGER -> limited(yaml, MoveRule.eager(path));
                    case THRESHOLD -> limited(yaml, MoveRule.threshold(path));
                };
        if (!stated && global && !rule.global()) {
            throw yaml.error("move", NOTHING_SAID);
        }
        if (kind == MoveRule.Kind.OFF) {
            for (String key : LIMITS) {
                if (yaml.has(key)) {
                    throw yaml.error(key, "is for move: eager or threshold: remove it");
                }
            }
        }
        yaml.finish();
        return rule;
    }

    private static String path(Yaml yaml) throws ConfigException {
        String path = yaml.text("path");
        boolean canonical =
                path.equals("/")
                        || path.startsWith("/")
                                && !path.endsWith("/")
                                && !path.contains("//")
                                && !(path + "/").contains("/./")
                                && !(path + "/").contains("/../");
        if (!canonical) {
            throw yaml.error(
                    "path",
                    "'"
                            + path
                            + "' is not a path such as /projects/alpha, from the file system's"
                            + " root, without . and ..");
        }
        return path;
    }

    private static String known(Yaml yaml, String region, Optional<Set<String>> regions)
            throws ConfigException {
        boolean global = region.equals(Topology.GLOBAL_NAME);
        if (regions.isPresent() && !global && !regions.get().contains(region)) {
            throw yaml.error(
                    "region",
                    "'"
                            + region
                            + "' is not one of "
                            + String.join(", ", regions.get().stream().sorted().toList())
                            + " or "
                            + Topology.GLOBAL_NAME);
        }
        return region;
    }

    private static MoveRule limited(Yaml yaml, MoveRule usual) throws ConfigException {
        MoveRule rule =
                new MoveRule(
                        usual.path(),
                        Optional.empty(),
                        usual.move(),
                        yaml.flag("global", usual.global()),
                        yaml.integer("reads", 1, MOST_OPERATIONS, usual.reads()),
                        yaml.integer("writes", 1, MOST_OPERATIONS, usual.writes()),
                        positive(yaml, "window", usual.windowMs()),
                        yaml.decimal("hysteresis", 1, MOST_HYSTERESIS, usual.hysteresis()),
                        yaml.durationMs("residence", usual.residenceMs()),
                        yaml.integer("inodesPerHour", 1, Long.MAX_VALUE, usual.inodesAnHour()),
                        yaml.sizeBytes("bytesPerHour", usual.bytesAnHour()));
        if (rule.bytesAnHour() < 1) {
            throw yaml.error("bytesPerHour", "is 0: give more, or write move: off");
        }
        return rule;
    }

    private static long positive(Yaml yaml, String key, long usual) throws ConfigException {
        long value = yaml.durationMs(key, usual);
        if (value < 1) {
            throw yaml.error(key, "is 0: give a duration such as 10min");
        }
        return value;
    }
}

package org.globalfs.client.vfs;

import java.util.ArrayList;
import java.util.List;

/**
 * Why a directory lives where it does and whether it is to move, as the partition oracle sees it,
 * and its form as lines of text.
 *
 * @param home region that it lives in, or "global"
 * @param rule as the policy says it
 * @param uses of the directory and all below it
 * @param verdict what the oracle would do, and why
 */
public record Explanation(String home, String rule, List<Use> uses, String verdict) {

    /** Within the rule's window; older ones fade away. */
    public record Use(String region, double reads, double writes) {}

    public Explanation {
        uses = List.copyOf(uses);
    }

    /** {@code home …}, {@code rule …}, {@code use READS WRITES REGION}, {@code verdict …}. */
    public List<String> lines() {
        List<String> lines = new ArrayList<>();
        lines.add("home " + home);
        rule.lines().forEach(line -> lines.add("rule " + line));
        for (Use use : uses) {
            lines.add("use " + use.reads + " " + use.writes + " " + use.region);
        }
        verdict.lines().forEach(line -> lines.add("verdict " + line));
        return lines;
    }

    /**
     * Reads {@link #lines}.
     *
     * @throws IllegalArgumentException they are none
     */
    public static Explanation parse(List<String> lines) {
        List<Use> uses = new ArrayList<>();
        for (String use : of("use", lines)) {
            String[] words = use.split(" ", 3);
            if (words.length < 3) {
                throw new IllegalArgumentException("no use of a region: " + use);
            }
            uses.add(new Use(words[2], Double.parseDouble(words[0]), Double.parseDouble(words[1])));
        }
        return new Explanation(
                String.join("\n", of("home", lines)),
                String.join("\n", of("rule", lines)),
                uses,
                String.join("\n", of("verdict", lines)));
    }

    private static List<String> of(String word, List<String> lines) {
        return lines.stream()
                .filter(line -> line.startsWith(word + " "))
                .map(line -> line.substring(word.length() + 1))
                .toList();
    }
}

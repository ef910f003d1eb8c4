package org.globalfs.protocol.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Optional;
import java.util.Set;
import org.globalfs.protocol.placement.MovePolicy;
import org.globalfs.protocol.placement.MoveRule;
import org.junit.jupiter.api.Test;

/** What policy.yaml may say, and what is said to an operator who wrote something else. */
class PolicyFileTest {
    private static final Set<String> REGIONS = Set.of("us-west", "us-east");

    private static MovePolicy read(String text) throws ConfigException {
        return PolicyFile.read(Yaml.parse("policy.yaml", text), Optional.of(REGIONS));
    }

    private static void refused(String text, String... says) {
        assertThatThrownBy(() -> read(text))
                .isInstanceOf(ConfigException.class)
                .hasMessageStartingWith("policy.yaml:")
                .hasMessageContainingAll(says);
    }

    @Test
    void aDirectorysOwnRuleIsReadAsOneOfTheFile() throws Exception {
        MoveRule rule =
                PolicyFile.ofAttribute("it", "move: threshold, reads: 500, window: 2min", REGIONS);
        assertThat(rule.text())
                .isEqualTo(
                        "it: threshold (500 reads or 100 writes in 120 s, 2 times the others' use,"
                                + " after 3,600 s)");
        assertThat(PolicyFile.ofAttribute("it", "region: us-east", REGIONS).region())
                .contains("us-east");
        for (String wrong :
                new String[] {
                    "",
                    "eager",
                    "move: fast",
                    "region: mars",
                    "path: /a, move: off",
                    "}",
                    "[".repeat(60_000),
                    "x: " + "{a: ".repeat(15_000)
                }) {
            assertThatThrownBy(() -> PolicyFile.ofAttribute("it", wrong, REGIONS))
                    .as(wrong)
                    .isInstanceOf(ConfigException.class)
                    .hasMessageContaining(MoveRule.ATTRIBUTE);
        }
    }

    @Test
    void rulesAreReadWithTheirLimits() throws Exception {
        MovePolicy policy =
                read(
                        """
                        rules:
                          - path: /projects
                            move: threshold
                            reads: 500
                            writes: 20
                            window: 2min
                            hysteresis: 1.5
                            residence: 30s
                            inodesPerHour: 1_000
                            bytesPerHour: 2GiB
                          - path: /legal
                            region: us-east
                          - path: /scratch
                            move: eager
                          - path: /
                            move: off
                        """);
        assertThat(policy.rules())
                .extracting(MoveRule::path)
                .containsExactly("/", "/legal", "/projects", "/scratch");
        assertThat(policy.rules().get(2).text())
                .isEqualTo(
                        "/projects: threshold (500 reads or 20 writes in 120 s, 1.5 times the"
                                + " others' use, after 30 s)");
        assertThat(policy.rules().get(2).inodesAnHour()).isEqualTo(1_000);
        assertThat(policy.rules().get(2).bytesAnHour()).isEqualTo(2L << 30);
        assertThat(policy.rules().get(1)).isEqualTo(MoveRule.pinned("/legal", "us-east"));
        assertThat(policy.rules().get(3)).isEqualTo(MoveRule.eager("/scratch"));
        assertThat(policy.root()).isEqualTo(MoveRule.off("/"));
    }

    @Test
    void treesBecomeEveryRegionsWhereItIsSaid() throws Exception {
        MovePolicy policy =
                read(
                        """
                        rules:
                          - path: /data
                            move: eager
                            global: true
                          - path: /docs
                            global: true
                            reads: 10
                          - path: /legal
                            region: global
                          - path: /mine
                            move: eager
                            global: false
                        """);
        assertThat(policy.rules().subList(1, 5))
                .extracting(MoveRule::text)
                .containsExactly(
                        "/data: eager or global",
                        "/docs: threshold or global (10 reads or 100 writes in 600 s, 2 times the"
                                + " others' use, after 3,600 s)",
                        "/legal: region global",
                        "/mine: eager");
        assertThat(PolicyFile.ofAttribute("it", "global: true", REGIONS).global()).isTrue();
        assertThat(PolicyFile.ofAttribute("it", "region: global", REGIONS).region())
                .contains("global");
    }

    @Test
    void withoutARuleOfTheRootNothingElseMoves() throws Exception {
        assertThat(read("rules:\n  - path: /a\n    move: eager\n").root())
                .isEqualTo(MoveRule.off("/"));
        assertThat(MovePolicy.OFF.root()).isEqualTo(MoveRule.off("/"));
    }

    @Test
    void mistakesAreNamed() {
        refused("rules: []\nrule: x\n", "rule", "did you mean 'rules'");
        refused("rules:\n  - path: a\n    move: off\n", "path", "'a' is not a path");
        refused("rules:\n  - path: /a/../b\n    move: off\n", "'/a/../b' is not a path");
        refused("rules:\n  - path: /a/\n    move: off\n", "'/a/' is not a path");
        refused("rules:\n  - path: /a\n", "rules[0].move", "is missing, as is region");
        refused("rules:\n  - path: /a\n    reguon: x\n", "reguon", "did you mean 'region'");
        refused("rules:\n  - path: /a\n    reads: 5\n", "rules[0].move", "is missing");
        refused("rules:\n  - path: /a\n    move: off\n    region: us-east\n", "exclude each other");
        refused(
                "rules:\n  - path: /a\n    region: mars\n",
                "'mars' is not one of us-east, us-west or global");
        refused("rules:\n  - path: /a\n    move: of\n", "'of' is not one of off, eager, threshold");
        refused("rules:\n  - path: /a\n    move: off\n    reads: 3\n", "reads", "remove it");
        refused("rules:\n  - path: /a\n    region: us-east\n    window: 3s\n", "window");
        refused("rules:\n  - path: /a\n    region: global\n    global: true\n", "global", "remove");
        refused("rules:\n  - path: /a\n    move: off\n    global: true\n", "global", "remove it");
        refused("rules:\n  - path: /a\n    global: false\n", "rules[0].move", "is missing");
        refused("rules:\n  - path: /a\n    global: perhaps\n", "global", "perhaps");
        refused("rules:\n  - path: /a\n    move: eager\n    window: 0s\n", "window", "is 0");
        refused("rules:\n  - path: /a\n    move: eager\n    hysteresis: 0.5\n", "hysteresis");
        refused("rules:\n  - path: /a\n    move: eager\n    hysteresis: x\n", "such as 1.5");
        refused("rules:\n  - path: /a\n    move: eager\n    bytesPerHour: 0B\n", "bytesPerHour");
        refused(
                "rules:\n  - path: /a\n    move: off\n  - path: /a\n    move: eager\n",
                "'/a' has two rules");
    }
}

package org.globalfs.oracle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.assertj.core.groups.Tuple;
import org.globalfs.oracle.policy.Replay;
import org.globalfs.protocol.config.ConfigException;
import org.globalfs.protocol.placement.MovePolicy;
import org.globalfs.protocol.placement.MoveRule;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a policy would have moved. */
class AccessTraceTest {
    @TempDir private Path folder;

    private static MovePolicy threshold(String path) {
        return threshold(path, false);
    }

    private static MovePolicy threshold(String path, boolean global) {
        return new MovePolicy(
                List.of(
                        new MoveRule(
                                path,
                                Optional.empty(),
                                MoveRule.Kind.THRESHOLD,
                                global,
                                50,
                                50,
                                60_000,
                                2,
                                30_000,
                                1_000,
                                1L << 40)));
    }

    private Path trace(String text) throws Exception {
        return Files.writeString(folder.resolve("trace"), text);
    }

    /** A team in the west works on /p for 100 s, then one in the east for 300 s. */
    private Path handover() throws Exception {
        StringBuilder text = new StringBuilder("# /p/doc is shared\nhome us-west /p\n\n");
        for (int second = 0; second < 400; second++) {
            String region = second < 100 ? "us-west" : "us-east";
            text.append(second).append(".5 ").append(region).append(" 8 2 /p/src/main\n");
            text.append(second).append(".7 eu-west 1 0 /p/doc/\n");
        }
        return trace(text.toString());
    }

    @Test
    void treesFollowTheirUsersOnce() throws Exception {
        Replay.Summary summary = AccessTrace.replay(handover(), threshold("/"));
        assertThat(summary.moves())
                .extracting(Replay.Move::path, Replay.Move::from, Replay.Move::to)
                .containsExactly(
                        Tuple.tuple("/p/doc", "us-west", "eu-west"),
                        Tuple.tuple("/p", "us-west", "us-east"));
        assertThat(summary.moves().get(1).timeMs()).isBetween(110_000L, 260_000L);
        assertThat(summary.operations()).isEqualTo(4_400);
        assertThat(summary.localWithout()).isEqualTo(1_000);
        assertThat(summary.local()).isGreaterThan(2_000);
    }

    @Test
    void rulesOfDirectoriesHoldForThem() throws Exception {
        assertThat(AccessTrace.replay(handover(), threshold("/p/doc")).moves())
                .extracting(Replay.Move::path, Replay.Move::to)
                .containsExactly(Tuple.tuple("/p/doc", "eu-west"));
        MovePolicy pinned = new MovePolicy(List.of(MoveRule.pinned("/p/src", "eu-west")));
        assertThat(AccessTrace.replay(handover(), pinned).moves())
                .extracting(Replay.Move::path, Replay.Move::to)
                .containsExactly(Tuple.tuple("/p/src", "eu-west"));
        assertThat(AccessTrace.replay(handover(), MovePolicy.OFF).moves()).isEmpty();
    }

    /** Two regions read /d for 200 s, then one of them changes it; nobody uses /e but once. */
    private Path shared() throws Exception {
        StringBuilder text = new StringBuilder("home us-west /d\nhome global /e\n");
        for (int second = 0; second < 200; second++) {
            text.append(second).append(".1 us-west 2 0 /d/x\n");
            text.append(second).append(".2 us-east 2 0 /d/x\n");
        }
        for (int second = 200; second < 400; second++) {
            text.append(second).append(".1 us-east 0 5 /d/x\n");
        }
        return trace(text.append("400.5 us-west 7 3 /e\n").toString());
    }

    @Test
    void whatAllReadIsEveryRegionsUntilOneChangesIt() throws Exception {
        Replay.Summary summary = AccessTrace.replay(shared(), threshold("/", true));
        assertThat(summary.moves())
                .extracting(Replay.Move::path, Replay.Move::from, Replay.Move::to)
                .containsExactly(
                        Tuple.tuple("/d", "us-west", "global"),
                        Tuple.tuple("/d", "global", "us-east"));
        assertThat(summary.operations()).isEqualTo(1_810);
        assertThat(summary.localWithout()).as("with reads of /e").isEqualTo(407);
        assertThat(summary.local()).isGreaterThan(1_200);
        assertThat(AccessTrace.replay(shared(), threshold("/", false)).moves())
                .extracting(Replay.Move::to)
                .doesNotContain("global");
    }

    @Test
    void mistakesAreNamed() throws Exception {
        Path wrong = trace("1 us-west 1 1 /a\n2 us-west one 1 /a\n");
        assertThatThrownBy(() -> AccessTrace.replay(wrong, MovePolicy.OFF))
                .isInstanceOf(ConfigException.class)
                .hasMessageContaining(wrong + ":2:");
        Path back = trace("2 us-west 1 1 /a\n1 us-west 1 1 /a\n");
        assertThatThrownBy(() -> AccessTrace.replay(back, MovePolicy.OFF))
                .hasMessageContaining(":2: is earlier");
        assertThatThrownBy(() -> AccessTrace.replay(folder.resolve("no"), MovePolicy.OFF))
                .hasMessageContaining("no such file");
    }
}

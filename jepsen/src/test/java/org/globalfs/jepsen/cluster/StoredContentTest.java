package org.globalfs.jepsen.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What is left to do for content, by what {@code globalfs datastore} prints. */
class StoredContentTest {
    private static final String HEAD =
            """
            placement epoch 3

            NODE         REGION   DC  STATE   CHUNKS  DATA      USED                 KEPT FOR OTHERS  DAMAGED  TO MOVE  TO REBUILD
            us-west-a-1  us-west  a   up      12      1.2 MiB   2.0 MiB of 10.0 GiB  0                0        0        0
            """;
    private static final String CACHES = "\nCACHE        REGION\nus-west-a  us-west  7\n";

    private final List<String> asked = new ArrayList<>();

    private static String with(String node) {
        return HEAD + node + "\n" + CACHES;
    }

    @Test
    void nothingIsLeftWhereAllAreUpAndHaveNothingToDo() {
        String other =
                "us-west-a-2  us-west  a   up      0       0 B       0 B of 10.0 GiB      0                0        0        0";
        assertThat(StoredContent.left(with(other))).isEmpty();
    }

    @Test
    void aNodeThatIsDownOrHasSomethingToDoIsNamed() {
        for (String node :
                List.of(
                        "us-west-a-2  us-west  a   DOWN",
                        "us-west-a-2  us-west  a   DISK FAILED  1  1 B  1 B of 9 B  0  0  0  0",
                        "us-west-a-2  us-west  a   up  1  1 B  1 B of 9 B  1  0  0  0",
                        "us-west-a-2  us-west  a   up  1  1 B  1 B of 9 B  0  2  0  0",
                        "us-west-a-2  us-west  a   up  1  1 B  1 B of 9 B  0  0  3  0",
                        "us-west-a-2  us-west  a   up  1  1 B  1 B of 9 B  0  0  0  4")) {
            assertThat(StoredContent.left(with(node))).contains(node);
        }
        assertThat(StoredContent.left("no cluster"))
                .hasValueSatisfying(left -> assertThat(left).contains("no storage nodes"));
    }

    @Test
    void whatNodesHaveOfNoFileIsTold() {
        String empty = HEAD.replace("12 ", "0  ");
        String held =
                "us-west-a-2  us-west  a   up      1       9 B     9 B of 10.0 GiB  0  0  0  0";
        assertThat(StoredContent.held(empty + CACHES)).isEmpty();
        assertThat(StoredContent.held(empty + held + "\n" + CACHES)).contains(held);
        String down = "us-west-a-2  us-west  a   DOWN";
        assertThat(StoredContent.held(empty + down + "\n")).contains(down);
        assertThat(StoredContent.held("no cluster"))
                .hasValueSatisfying(left -> assertThat(left).contains("no storage nodes"));
    }

    @Test
    void aSweepIsWaitedFor() {
        StoredContent content =
                new StoredContent(what -> {
                    asked.add(what);
                    return asked.size() < 3 ? HEAD : HEAD.replace("12 ", "0  ");
                });
        assertThat(content.awaitNone(Duration.ofMinutes(1))).isEmpty();
        assertThat(asked).containsExactly("status", "status", "status");
        asked.clear();
        assertThat(content.awaitNone(Duration.ZERO))
                .hasValueSatisfying(left -> assertThat(left).startsWith("us-west-a-1 "));
    }

    @Test
    void allIsReadOnlyWhereDamageMayBeUnseen() {
        StoredContent content =
                new StoredContent(what -> {
                    asked.add(what);
                    return HEAD;
                });
        assertThat(content.awaitWhole(Duration.ZERO, false)).isEmpty();
        assertThat(asked).containsExactly("status", "repair");
        asked.clear();
        assertThat(content.awaitWhole(Duration.ZERO, true)).isEmpty();
        assertThat(asked).containsExactly("status", "repair", "scrub");
    }

    @Test
    void whatCannotBeMadeAnewIsTold() {
        StoredContent content =
                new StoredContent(what -> {
                    if (what.equals("repair")) {
                        throw new IOException("1 chunk could not be made anew");
                    }
                    return HEAD;
                });
        assertThat(content.awaitWhole(Duration.ZERO, false))
                .contains("1 chunk could not be made anew");
    }
}

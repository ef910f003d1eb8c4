package org.globalfs.oracle;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.Optional;
import java.util.Set;
import org.globalfs.protocol.placement.MoveRule;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PolicyWatchTest {
    private static final String OFF = "rules: [{path: /, move: off}]  ";
    private static final String EAGER = "rules: [{path: /, move: eager}]";
    private static final String WRONG = "rules: [{path: /, move: eagle}]";

    @TempDir Path folder;

    private void write(Path file, String text, int second) throws Exception {
        Files.writeString(file, text);
        Files.setLastModifiedTime(file, FileTime.fromMillis(second * 1000L));
    }

    @Test
    void aFileThatIsWrongLeavesThePolicyOfBefore() throws Exception {
        Path file = folder.resolve("policy.yaml");
        write(file, EAGER, 1);
        PolicyWatch watch = new PolicyWatch(Optional.of(file), Set.of("eu"));
        write(file, WRONG, 2);
        assertThat(watch.look()).isFalse();
        assertThat(watch.policy().root().move()).isEqualTo(MoveRule.Kind.EAGER);
        assertThat(watch.problem().orElseThrow()).contains("eagle");
        write(file, OFF, 3);
        assertThat(watch.look()).isTrue();
        assertThat(watch.look()).isFalse();
        assertThat(watch.problem()).isEmpty();
        assertThat(watch.policy().root().move()).isEqualTo(MoveRule.Kind.OFF);
    }

    /** As one that chmod(1) makes readable: neither its time nor its size change. */
    @Test
    void aFileThatCouldNotBeReadIsReadOnceItCan() throws Exception {
        Path file = folder.resolve("policy.yaml");
        write(file, OFF, 1);
        PolicyWatch watch = new PolicyWatch(Optional.of(file), Set.of("eu"));
        write(file, WRONG, 2);
        assertThat(watch.look()).isFalse();
        write(file, EAGER, 2);
        assertThat(watch.look()).isTrue();
        assertThat(watch.problem()).isEmpty();
        assertThat(watch.policy().root().move()).isEqualTo(MoveRule.Kind.EAGER);
    }
}

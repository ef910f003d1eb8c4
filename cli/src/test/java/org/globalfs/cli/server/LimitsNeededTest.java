package org.globalfs.cli.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import org.globalfs.cli.ExitCode;
import org.globalfs.cli.Failure;
import org.globalfs.protocol.GroupLimit;
import org.junit.jupiter.api.Test;

final class LimitsNeededTest {
    private static final long MANY = Long.MAX_VALUE;
    private static final GroupLimit FREE = new GroupLimit(MANY, Path.of(""));

    @Test
    void aLimitThatIsTooLowIsNamedWithTheMend() throws Exception {
        LimitsNeeded.check(1, 256, FREE, 1L << 30);
        LimitsNeeded.check(9, MANY, FREE, MANY);
        LimitsNeeded.checkMount(128, FREE);
        assertThatThrownBy(() -> LimitsNeeded.check(1, 255, FREE, MANY))
                .isInstanceOf(Failure.class)
                .hasMessageContaining("may have 255 threads")
                .hasMessageContaining("ulimit -u 65536")
                .satisfies(e -> assertThat(Failure.codeOf(e)).isEqualTo(ExitCode.CONFIG));
        assertThatThrownBy(() -> LimitsNeeded.check(1, MANY, FREE, 64 << 20))
                .isInstanceOf(Failure.class)
                .hasMessageContaining("may have 64 MiB only")
                .hasMessageContaining("ulimit -f unlimited")
                .satisfies(e -> assertThat(Failure.codeOf(e)).isEqualTo(ExitCode.CONFIG));
        assertThatThrownBy(() -> LimitsNeeded.checkMount(127, FREE))
                .isInstanceOf(Failure.class)
                .hasMessageContaining("128 are needed");
        GroupLimit group = new GroupLimit(64, Path.of("/group/pids.max"));
        assertThatThrownBy(() -> LimitsNeeded.checkMount(MANY, group))
                .isInstanceOf(Failure.class)
                .hasMessageContaining("may have 64 threads in all (/group/pids.max), 128 are")
                .hasMessageContaining("TasksMax=65536");
    }

    @Test
    void aHeapLeavesTheRestOfAGroupsMemoryToWhatIsBesideIt() throws Exception {
        GroupLimit half = new GroupLimit(512 << 20, Path.of("/group/memory.max"));
        assertThat(LimitsNeeded.serverHeap(1, 1L << 30, half)).isEqualTo(352 << 20);
        assertThat(LimitsNeeded.serverHeap(1, 1L << 30, FREE)).isEqualTo(1L << 30);
        assertThat(LimitsNeeded.mountHeap(1L << 30, half)).isEqualTo(352 << 20);
        LimitsNeeded.checkServerMemory(1, 352 << 20, half);
        LimitsNeeded.checkMountMemory(352 << 20, half);
        LimitsNeeded.checkMountMemory(1L << 40, FREE);
        assertThatThrownBy(() -> LimitsNeeded.checkServerMemory(1, 1L << 30, half))
                .isInstanceOf(Failure.class)
                .hasMessageContaining("may have 512 MiB of memory in all (/group/memory.max)")
                .hasMessageContaining("raise the limit to 1184 MiB (MemoryMax=")
                .hasMessageEndingWith("or set GLOBALFS_JVM_FLAGS=-Xmx352m")
                .satisfies(e -> assertThat(Failure.codeOf(e)).isEqualTo(ExitCode.CONFIG));
    }

    @Test
    void aMountThatFitsNoWhereIsToldHowMuchItNeeds() {
        GroupLimit quarter = new GroupLimit(256 << 20, Path.of("/group/memory.max"));
        long heap = LimitsNeeded.mountHeap(1L << 30, quarter);
        assertThat(heap).isEqualTo(192 << 20);
        assertThatThrownBy(() -> LimitsNeeded.checkMountMemory(heap, quarter))
                .isInstanceOf(Failure.class)
                .hasMessageContaining("raise the limit to 352 MiB")
                .hasMessageEndingWith("limit of memory)");
    }
}

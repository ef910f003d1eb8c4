package org.globalfs.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class GroupLimitTest {
    @TempDir Path mounted;

    private Path limit(String group, String text) throws IOException {
        Path folder = Files.createDirectories(mounted.resolve(group));
        return Files.writeString(folder.resolve("pids.max"), text + "\n");
    }

    private List<String> mounts(String root, String type, String options) {
        return List.of(
                "23 1 0:28 / / rw,relatime - ext4 /dev/vda rw",
                "39 31 0:36 " + root + " " + mounted + " rw,relatime - " + type + " x " + options);
    }

    @Test
    void theLeastOfAllGroupsAboveCounts() throws Exception {
        limit("a/b/c", "max");
        Path least = limit("a/b", "64");
        limit("a", "100");
        limit("other", "3");
        assertThat(
                        GroupLimit.of(
                                GroupLimit.Controller.PIDS,
                                List.of("0::/a/b/c"),
                                mounts("/", "cgroup2", "rw")))
                .isEqualTo(new GroupLimit(64, least));
        assertThat(
                        GroupLimit.of(
                                GroupLimit.Controller.PIDS,
                                List.of("9:name=systemd:/", "8:cpu,pids:/a/b", "0::/other"),
                                mounts("/", "cgroup", "rw,cpu,pids")))
                .isEqualTo(new GroupLimit(64, least));
    }

    @Test
    void aContainerSeesItsGroupAsTheRoot() throws Exception {
        Path own = limit("", "64");
        assertThat(
                        GroupLimit.of(
                                GroupLimit.Controller.PIDS,
                                List.of("0::/"),
                                mounts("/", "cgroup2", "rw")))
                .isEqualTo(new GroupLimit(64, own));
        assertThat(
                        GroupLimit.of(
                                GroupLimit.Controller.PIDS,
                                List.of("8:pids:/docker/1"),
                                mounts("/docker/1", "cgroup", "rw,pids")))
                .isEqualTo(new GroupLimit(64, own));
        assertThat(
                        GroupLimit.of(
                                GroupLimit.Controller.PIDS,
                                List.of("0::/../.."),
                                mounts("/", "cgroup2", "rw")))
                .isEqualTo(new GroupLimit(64, own));
    }

    @Test
    void whatNobodyLimitsIsUnlimited() throws Exception {
        assertThat(
                        GroupLimit.of(
                                        GroupLimit.Controller.PIDS,
                                        List.of("0::/a"),
                                        mounts("/", "cgroup2", "rw"))
                                .most())
                .isEqualTo(Long.MAX_VALUE);
        assertThat(GroupLimit.of(GroupLimit.Controller.PIDS, List.of(), List.of()).most())
                .isEqualTo(Long.MAX_VALUE);
    }

    @Test
    void memoryIsLimitedByFilesOfOtherNames() throws Exception {
        Path folder = Files.createDirectories(mounted.resolve("a"));
        Path first = Files.writeString(folder.resolve("memory.limit_in_bytes"), "268435456\n");
        Files.writeString(mounted.resolve("memory.limit_in_bytes"), "9223372036854771712\n");
        Path second = Files.writeString(folder.resolve("memory.max"), "536870912\n");
        GroupLimit.Controller memory = GroupLimit.Controller.MEMORY;
        assertThat(
                        GroupLimit.of(
                                memory, List.of("4:memory:/a"), mounts("/", "cgroup", "rw,memory")))
                .isEqualTo(new GroupLimit(256 << 20, first));
        assertThat(GroupLimit.of(memory, List.of("0::/a"), mounts("/", "cgroup2", "rw")))
                .isEqualTo(new GroupLimit(512 << 20, second));
        assertThat(
                        GroupLimit.of(
                                        memory,
                                        List.of("4:memory:/b"),
                                        mounts("/", "cgroup", "rw,memory"))
                                .most())
                .isEqualTo(Long.MAX_VALUE);
    }
}

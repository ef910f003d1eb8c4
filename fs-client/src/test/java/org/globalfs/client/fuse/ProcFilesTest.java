package org.globalfs.client.fuse;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.globalfs.client.vfs.Caller;
import org.globalfs.client.vfs.SetAttributes;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is read from {@code /proc}: mounts, pending signals, groups. */
class ProcFilesTest {

    @Test
    void readsMountsWithBlanksInTheirNames() {
        MountTable.Mount mount =
                MountTable.parse(
                        "36 35 0:42 / /mnt/two\\040words\\134x rw,nosuid shared:7 master:1 - fuse.globalfs globalfs rw,user_id=1000");
        assertThat(mount)
                .isEqualTo(
                        new MountTable.Mount("0:42", "/mnt/two words\\x", "fuse.globalfs", 1000));
        assertThat(MountTable.parse("36 35 0:42 / /mnt rw - tmpfs tmpfs rw"))
                .isEqualTo(new MountTable.Mount("0:42", "/mnt", "tmpfs", 0));
        assertThat(MountTable.parse("")).isNull();
    }

    @Test
    void seesWhatIsMountedOnAMountsDirectories() {
        String ours = "36 35 0:42 / /mnt rw - fuse.globalfs globalfs rw";
        String bound = "40 30 0:42 /d /elsewhere rw - fuse.globalfs globalfs rw";
        String beside = "37 35 0:43 / /mnt2 rw - tmpfs none rw";
        assertThat(MountTable.carriesOthers("0:42", List.of(ours, bound, beside))).isFalse();
        for (String parent : List.of("36", "40")) {
            String inside = "38 " + parent + " 0:44 / /mnt/d rw - tmpfs none rw";
            assertThat(MountTable.carriesOthers("0:42", List.of(ours, bound, inside, ""))).isTrue();
        }
    }

    @Test
    void findsTheRoot() throws Exception {
        assertThat(MountTable.at(Path.of("/"))).isNotNull();
    }

    @Test
    void followsLinksToAMount(@TempDir Path folder) throws Exception {
        MountTable.Mount proc = MountTable.at(Path.of("/proc"));
        assertThat(proc).isNotNull();
        Path there = Files.createSymbolicLink(folder.resolve("there"), Path.of("/proc"));
        Path again = Files.createSymbolicLink(folder.resolve("again"), Path.of("there"));
        Path above = Files.createSymbolicLink(folder.resolve("above"), Path.of("/"));
        Path round = Files.createSymbolicLink(folder.resolve("round"), Path.of("round"));
        assertThat(MountTable.named(Path.of("/proc"))).isEqualTo(proc);
        assertThat(MountTable.named(there)).isEqualTo(proc);
        assertThat(MountTable.named(again)).isEqualTo(proc);
        assertThat(MountTable.named(above.resolve("proc"))).isEqualTo(proc);
        assertThat(MountTable.named(round)).isNull();
        assertThat(MountTable.named(folder)).isNull();
        assertThat(MountTable.named(folder.resolve("none/at all"))).isNull();
    }

    @Test
    void findsTheMountThatAPathIsOn() throws Exception {
        MountTable.Mount proc = MountTable.at(Path.of("/proc"));
        assertThat(proc).isNotNull();
        assertThat(MountTable.over(Path.of("/proc/self/../none/at all"))).isEqualTo(proc);
        assertThat(MountTable.over(Path.of("/proc"))).isEqualTo(proc);
        assertThat(MountTable.over(Path.of("/no such folder/x")))
                .isEqualTo(MountTable.at(Path.of("/")));
    }

    private static String status(
            String pending, String shared, String blocked, String ignored, String caught) {
        return "Name:\tx\nSigPnd:\t"
                + pending
                + "\nShdPnd:\t"
                + shared
                + "\nSigBlk:\t"
                + blocked
                + "\nSigIgn:\t"
                + ignored
                + "\nSigCgt:\t"
                + caught
                + "\nCapInh:\t0\n";
    }

    @Test
    void tellsFatalSignalsFromHandledOnes() {
        String none = "0000000000000000";
        String kill = "0000000000000100";
        String terminate = "0000000000004000";
        String child = "0000000000010000";
        assertThat(PendingSignals.fatal(status(none, none, none, none, none))).isFalse();
        assertThat(PendingSignals.fatal(status(kill, none, "ffffffffffffffff", none, none)))
                .isTrue();
        assertThat(PendingSignals.fatal(status(none, terminate, none, none, none))).isTrue();
        assertThat(PendingSignals.fatal(status(none, terminate, none, none, terminate))).isFalse();
        assertThat(PendingSignals.fatal(status(none, terminate, none, terminate, none))).isFalse();
        assertThat(PendingSignals.fatal(status(none, terminate, terminate, none, none))).isFalse();
        assertThat(PendingSignals.fatal(status(child, child, none, none, none))).isFalse();
        assertThat(PendingSignals.fatal(0)).isFalse();
        assertThat(PendingSignals.fatal((int) ProcessHandle.current().pid())).isFalse();
    }

    @Test
    void tellsSignalsThatAProcessNoticesFromOthers() {
        String none = "0000000000000000";
        String alarm = "0000000000002000";
        String child = "0000000000010000";
        assertThat(PendingSignals.noticed(status(none, none, none, none, alarm))).isFalse();
        assertThat(PendingSignals.noticed(status(none, alarm, none, none, none))).isTrue();
        assertThat(PendingSignals.noticed(status(alarm, none, none, none, alarm))).isTrue();
        assertThat(PendingSignals.noticed(status(alarm, none, alarm, none, alarm))).isFalse();
        assertThat(PendingSignals.noticed(status(none, alarm, none, alarm, none))).isFalse();
        assertThat(PendingSignals.noticed(status(none, child, none, none, none))).isFalse();
        assertThat(PendingSignals.noticed(status(none, child, none, none, child))).isTrue();
        assertThat(PendingSignals.noticed(0)).isFalse();
    }

    @Test
    void readsGroups() {
        Caller caller = new Caller(0, 0, (int) ProcessHandle.current().pid(), 0);
        assertThat(caller.groups()).isSameAs(caller.groups());
        assertThat(new Caller(0, 0, 0, 0).groups()).isEmpty();
        assertThat(Caller.of(1, 2, new int[] {3, 4}, 0).groups()).containsExactly(3, 4);
    }

    @Test
    void timesBeyondSixtyFourBitsBecomeTheFurthest() {
        assertThat(SetAttributes.time(0, 5)).isEqualTo(5);
        assertThat(SetAttributes.time(-1, 999_999_999)).isEqualTo(-1);
        assertThat(SetAttributes.time(Long.MAX_VALUE, 0)).isPositive();
        assertThat(SetAttributes.time(Long.MIN_VALUE, 0)).isNegative();
    }
}

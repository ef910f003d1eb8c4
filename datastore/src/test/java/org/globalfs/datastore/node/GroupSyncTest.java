package org.globalfs.datastore.node;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Path;
import org.globalfs.datastore.node.FaultPoints.Step;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(60)
class GroupSyncTest {
    @TempDir Path folder;
    private final GroupSync groupSync = new GroupSync();

    /** Whether by a bug, or because there is no memory left. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aSyncThatIsBrokenOffMakesNothingDurable(boolean byError) throws IOException {
        SegmentFile file =
                SegmentFile.create(folder, 1, "c", "n", (step, path) -> breakOff(step, byError));
        long ticket = groupSync.wrote(file);
        assertThatThrownBy(() -> groupSync.await(ticket)).hasMessage("broken off");
        assertThatThrownBy(() -> groupSync.await(ticket))
                .isInstanceOf(IOException.class)
                .hasRootCauseMessage("broken off");
        assertThat(groupSync.failure()).isNotNull();
        file.close();
    }

    private static void breakOff(Step step, boolean byError) {
        if (step == Step.SYNCED) {
            if (byError) {
                throw new OutOfMemoryError("broken off");
            }
            throw new IllegalStateException("broken off");
        }
    }

    @Test
    void whatWasSyncedStaysDurableAfterALaterFailure() throws IOException {
        FailingDisk disk = new FailingDisk();
        SegmentFile file = SegmentFile.create(folder, 1, "c", "n", disk);
        long first = groupSync.wrote(file);
        groupSync.await(first);
        disk.failAfter(0);
        long second = groupSync.wrote(file);
        assertThatThrownBy(() -> groupSync.await(second)).hasMessageContaining("disk failed");
        groupSync.await(first);
        file.close();
    }
}

package org.globalfs.multicast.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.globalfs.multicast.core.ReadDecided;
import org.globalfs.multicast.log.LogOptions;
import org.globalfs.multicast.log.MulticastLog;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CatchUpReaderTest {

    @TempDir Path folder;

    /** It is called by the event loop, the end of which is the replica's. */
    @Test
    void withoutAThreadAReadIsDropped() {
        List<String> seen = new ArrayList<>();
        MulticastLog log =
                MulticastLog.open(new LogOptions(folder, "test", 7, true, 1 << 20, 0), r -> {});
        CatchUpReader reader =
                new CatchUpReader(
                        log,
                        (peer, ring, message) -> seen.add("reply"),
                        (where, cause) -> seen.add("fatal"),
                        task -> {
                            throw new OutOfMemoryError("unable to create native thread");
                        });
        reader.read(1, new ReadDecided(2, 1, 1));
        reader.close();
        log.close();
        assertThat(seen).isEmpty();
    }
}

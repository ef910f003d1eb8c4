package org.globalfs.datastore.node;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.globalfs.protocol.Disk;
import org.globalfs.protocol.HostPort;
import org.globalfs.protocol.discovery.InMemoryDiscovery;
import org.globalfs.protocol.discovery.Member;
import org.globalfs.protocol.discovery.Role;
import org.globalfs.protocol.discovery.StorageRoom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RoomReportTest {
    private static final int SEGMENT_BYTES = 1 << 20;

    @TempDir private Path folder;
    private final AtomicLong freeBytes = new AtomicLong(1_000_000_000);
    private final InMemoryDiscovery discovery = new InMemoryDiscovery();

    private static Member member(StorageRoom room) {
        return new Member(
                Role.STORAGE,
                "n",
                "us-west",
                1,
                "a",
                new HostPort("127.0.0.1", 1),
                room.attributes());
    }

    private final Disk disk =
            new Disk() {
                @Override
                public long freeBytes() {
                    return freeBytes.get();
                }

                @Override
                public long sizeBytes() {
                    return 2_000_000_000;
                }
            };

    private long told() {
        return StorageRoom.together(discovery.members(Role.STORAGE));
    }

    /** Its disk is used by others, too. */
    @Test
    void tellsWhatIsLeftWhenThatBecomesAnother() throws IOException {
        SegmentStore.Options options =
                new SegmentStore.Options("c", "n", Long.MAX_VALUE, 0, SEGMENT_BYTES, true);
        try (SegmentStore store = SegmentStore.open(folder, options, disk, FaultPoints.NONE);
                RoomReport report = new RoomReport(store, "n", discovery, RoomReportTest::member)) {
            assertThat(told()).isEqualTo(1_000_000_000);
            AtomicInteger updates = new AtomicInteger();
            discovery.onChange(updates::incrementAndGet);
            freeBytes.set(999_000_000);
            report.look();
            assertThat(updates).hasValue(0);
            freeBytes.set(300_000_000);
            report.look();
            assertThat(told()).isEqualTo(300_000_000);
            report.look();
            assertThat(updates).hasValue(1);
            discovery.remove(Role.STORAGE, "n");
            freeBytes.set(0);
            report.look();
            assertThat(discovery.members(Role.STORAGE)).isEmpty();
        }
    }
}

package org.globalfs.protocol.discovery;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.globalfs.protocol.Disk;
import org.globalfs.protocol.HostPort;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class StorageRoomTest {

    private static Member node(String id, Map<String, String> attributes) {
        return new Member(
                Role.STORAGE, id, "us-west", 1, "a", new HostPort("127.0.0.1", 1), attributes);
    }

    private static Member node(String id, StorageRoom room) {
        return node(id, room.attributes());
    }

    @Test
    void whatADiskHasLeftCountsOnce() {
        Member one = node("1", new StorageRoom(110, 10, "x", 100));
        Member two = node("2", new StorageRoom(130, 30, "x", 100));
        Member three = node("3", new StorageRoom(57, 7, "y", 50));
        assertThat(StorageRoom.together(List.of(one))).isEqualTo(110);
        assertThat(StorageRoom.together(List.of(one, two))).isEqualTo(140);
        assertThat(StorageRoom.together(List.of(one, two, three))).isEqualTo(197);
    }

    @Test
    void nodesThatMayNotFillTheirDiskHoldWhatTheyMay() {
        Member one = node("1", new StorageRoom(20, 10, "x", 100));
        Member two = node("2", new StorageRoom(20, 5, "x", 100));
        assertThat(StorageRoom.together(List.of(one, two))).isEqualTo(40);
        Member three = node("3", new StorageRoom(200, 5, "x", 100));
        assertThat(StorageRoom.together(List.of(one, two, three))).isEqualTo(120);
    }

    @Test
    void whatOneNodeSaysWrongHidesNoOthersRoom() {
        Member one = node("1", new StorageRoom(110, 10, "x", 100));
        Member odd =
                node("2", Map.of("capacity", "40GiB", "used", "-1", "disk", "y", "diskFree", ""));
        Member huge = node("3", Map.of("capacity", "9999999999999999999"));
        assertThat(StorageRoom.together(List.of(one, odd, huge))).isEqualTo(110);
    }

    @Test
    void whoDoesNotSayItsDiskHasOneOfItsOwn() {
        Member one = node("1", Map.of("capacity", "100"));
        Member two = node("2", Map.of("capacity", "100"));
        assertThat(StorageRoom.together(List.of(one, two, node("3", Map.of())))).isEqualTo(200);
    }

    @Test
    void foldersOfOneDiskAreTold(@TempDir Path folder) throws IOException {
        String identity = Disk.identity(folder);
        assertThat(Disk.identity(folder.resolve("."))).isEqualTo(identity);
        assertThat(Disk.identity(Path.of("/proc"))).isNotEqualTo(identity);
    }
}

package org.globalfs.protocol.discovery;

import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * What a storage node tells of its room, in bytes.
 *
 * @param capacity what it may hold, and has or finds room for
 * @param used by what it holds, garbage included
 * @param disk the file system that it is on, which it may share with other nodes
 * @param diskFree what all nodes together may still take of that
 */
public record StorageRoom(long capacity, long used, String disk, long diskFree) {
    private static final String CAPACITY = "capacity";
    private static final String USED = "used";
    private static final String DISK = "disk";
    private static final String DISK_FREE = "diskFree";
    private static final Pattern NUMBER = Pattern.compile("[0-9]{1,18}");

    /** As a member announces it. */
    public Map<String, String> attributes() {
        return Map.of(
                CAPACITY,
                Long.toString(capacity),
                USED,
                Long.toString(used),
                DISK,
                disk,
                DISK_FREE,
                Long.toString(diskFree));
    }

    /**
     * As it was announced; a node that does not say its disk has one of its own. What is no number
     * counts as not said: what one node says wrong must not hide all others' room.
     */
    static StorageRoom of(Member node) {
        Map<String, String> said = node.attributes();
        long capacity = number(said, CAPACITY, 0);
        long used = number(said, USED, 0);
        return new StorageRoom(
                capacity,
                used,
                said.getOrDefault(DISK, "of node " + node.id()),
                number(said, DISK_FREE, capacity - used));
    }

    private static long number(Map<String, String> said, String key, long unsaid) {
        String value = said.get(key);
        return value == null || !NUMBER.matcher(value).matches() ? unsaid : Long.parseLong(value);
    }

    /** What storage nodes can hold together: what a disk has left counts once. */
    public static long together(Collection<Member> nodes) {
        Map<String, StorageRoom> disks = new HashMap<>();
        for (Member node : nodes) {
            StorageRoom room = of(node);
            disks.merge(room.disk, room, StorageRoom::beside);
        }
        long bytes = 0;
        for (StorageRoom disk : disks.values()) {
            bytes += disk.used + Math.min(disk.capacity - disk.used, disk.diskFree);
        }
        return bytes;
    }

    private StorageRoom beside(StorageRoom other) {
        // Of two that looked at different times neither is known to be the later one.
        return new StorageRoom(
                capacity + other.capacity,
                used + other.used,
                disk,
                Math.min(diskFree, other.diskFree));
    }
}

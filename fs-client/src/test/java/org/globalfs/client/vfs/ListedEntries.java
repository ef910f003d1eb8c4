package org.globalfs.client.vfs;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What a directory is read into, with attributes: so many entries at a time. */
public final class ListedEntries implements DirectorySink {

    /** One that was taken. */
    public record Listed(String name, long cookie, @Nullable Entry entry) {}

    private final List<Listed> taken = new ArrayList<>();
    private final int room;

    public ListedEntries(int room) {
        this.room = room;
    }

    public List<Listed> taken() {
        return taken;
    }

    public List<String> names() {
        return taken.stream().map(Listed::name).toList();
    }

    /** Where the next read goes on that this one is followed by. */
    public long next(long otherwise) {
        return taken.isEmpty() ? otherwise : taken.getLast().cookie();
    }

    @Override
    public boolean wantsEntries() {
        return true;
    }

    @Override
    public boolean add(byte[] name, long ino, int type, long cookie, @Nullable Entry entry) {
        return taken.size() < room && taken.add(new Listed(new String(name, UTF_8), cookie, entry));
    }
}

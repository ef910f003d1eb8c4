package org.globalfs.datastore.node;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** A disk that does not give some of the records on it, whoever asks. Thread-safe. */
public final class BadSectors implements FaultPoints {
    private final Set<Place> places = ConcurrentHashMap.newKeySet();
    private final Set<Place> sectors = ConcurrentHashMap.newKeySet();
    private final Set<Place> unwritable = ConcurrentHashMap.newKeySet();

    private record Place(String file, long offset) {}

    /**
     * From now on.
     *
     * @param offset of the record; 0: the headers of all records in the file
     */
    public void add(Path file, long offset) {
        places.add(new Place(file.getFileName().toString(), offset));
    }

    /**
     * As {@link #add}, and of a page that the kernel does not have, so that it cannot be changed.
     */
    public void addUnwritable(Path file, long offset) {
        add(file, offset);
        unwritable.add(new Place(file.getFileName().toString(), offset));
    }

    /** As {@link #add}, of the sector at this offset, and of the record that begins there. */
    public void addSector(Path file, long offset) {
        add(file, offset);
        sectors.add(new Place(file.getFileName().toString(), offset));
    }

    @Override
    public void scanning(Path path, long from, int bytes) throws IOException {
        String file = path.getFileName().toString();
        for (Place sector : sectors) {
            if (sector.file.equals(file) && sector.offset >= from && sector.offset < from + bytes) {
                throw new IOException("Input/output error");
            }
        }
    }

    @Override
    public void reached(Step step, Path path) {}

    @Override
    public void reading(Path path, long offset) throws IOException {
        fail(places, path, offset);
    }

    @Override
    public void ending(Path path, long offset) throws IOException {
        fail(unwritable, path, offset);
    }

    private static void fail(Set<Place> bad, Path path, long offset) throws IOException {
        if (bad.contains(new Place(path.getFileName().toString(), offset))) {
            throw new IOException("Input/output error");
        }
    }
}

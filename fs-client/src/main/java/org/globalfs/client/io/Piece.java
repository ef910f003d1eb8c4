package org.globalfs.client.io;

/**
 * A run of a file's bytes: {@code length} bytes at {@code offset} of the file, from {@code from} on
 * in the source.
 */
record Piece(long offset, long length, Source source, long from) {

    long end() {
        return offset + length;
    }

    /** The part of it within [start, end), which must overlap. */
    Piece within(long start, long end) {
        long first = Math.max(offset, start);
        long last = Math.min(end(), end);
        return first == offset && last == end()
                ? this
                : new Piece(first, last - first, source, from + (first - offset));
    }
}

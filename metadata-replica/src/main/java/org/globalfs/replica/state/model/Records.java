package org.globalfs.replica.state.model;

import org.jspecify.annotations.Nullable;

/** Read access to a partition's tables as of one moment. */
public interface Records {

    byte @Nullable [] get(Table table, byte[] key);

    /**
     * Visits the records from {@code from} (inclusive) on whose key begins with {@code prefix}, in
     * key order.
     */
    void scan(Table table, byte[] prefix, byte[] from, Visitor visitor);

    /**
     * Visits the records from {@code from} (inclusive) back whose key begins with {@code prefix},
     * in falling order of keys.
     */
    void scanBack(Table table, byte[] prefix, byte[] from, Visitor visitor);

    /** The record with the greatest key not above {@code at} that begins with {@code prefix}. */
    @Nullable Row floor(Table table, byte[] prefix, byte[] at);

    /** Receives records; false ends the scan. */
    @FunctionalInterface
    interface Visitor {
        boolean visit(byte[] key, byte[] value);
    }

    /** A record with its key. */
    record Row(byte[] key, byte[] value) {}
}

package org.globalfs.replica.state.model;

/**
 * Tables with the changes of the instance being executed. A change is seen by later reads at once.
 */
public interface MutableRecords extends Records {

    void put(Table table, byte[] key, byte[] value);

    void delete(Table table, byte[] key);
}

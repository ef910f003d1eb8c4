package org.globalfs.client.meta;

import java.util.List;

/** The replicas that exist, as far as known now. */
@FunctionalInterface
public interface ReplicaDirectory {

    List<Replica> replicas();
}

package org.globalfs.protocol.discovery;

/** What a member of the cluster does. */
public enum Role {
    REPLICA,
    ORACLE,
    STORAGE,
    CACHE,
    MOUNT,
    SERVER
}

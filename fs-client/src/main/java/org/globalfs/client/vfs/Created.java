package org.globalfs.client.vfs;

/** A file created and opened in one step. */
public record Created(Entry entry, OpenResult open) {}

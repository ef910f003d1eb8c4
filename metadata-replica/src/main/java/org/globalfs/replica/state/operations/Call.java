package org.globalfs.replica.state.operations;

/**
 * The circumstances of one execution.
 *
 * @param origin partition of the client's region
 * @param nowNs the command's time
 */
public record Call(Caller caller, int origin, long nowNs) {}

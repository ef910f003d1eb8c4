package org.globalfs.multicast.core;

/** What an acceptor voted for in an instance, and in which ballot. */
public record AcceptedValue(long instance, Ballot ballot, Batch batch) {}

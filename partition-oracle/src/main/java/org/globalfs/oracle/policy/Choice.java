package org.globalfs.oracle.policy;

import org.globalfs.protocol.placement.MoveRule;

/**
 * A tree that should come to live with those who use it.
 *
 * @param ino its directory
 * @param files the directory is there already, some of its files are not
 * @param rule that says so
 * @param own operations of the region that it should live in
 * @param others those of all others together
 */
public record Choice(long ino, boolean files, MoveRule rule, double own, double others) {}

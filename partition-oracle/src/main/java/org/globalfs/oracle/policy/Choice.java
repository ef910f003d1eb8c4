package org.globalfs.oracle.policy;

import org.globalfs.protocol.placement.MoveRule;

/**
 * A tree that should come to live with those who use it, or with all.
 *
 * @param ino its directory
 * @param from the partition that it lives in
 * @param to the one that it should live in
 * @param files the directory is there already, some of its files are not
 * @param rule that says so
 * @param own operations of the region that it was chosen for
 * @param others those of all others together
 */
public record Choice(
        long ino, int from, int to, boolean files, MoveRule rule, double own, double others) {}

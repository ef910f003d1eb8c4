/**
 * A metadata replica as a process: its partitions, its rings, the calls it answers, and its upkeep.
 */
@NullMarked
package org.globalfs.replica.service;

import org.jspecify.annotations.NullMarked;

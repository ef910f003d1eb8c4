/**
 * What each command means: deterministic functions from records and a command to changed records
 * and a reply. Pure: no files, sockets, clocks, threads, randomness.
 */
@NullMarked
package org.globalfs.replica.state.operations;

import org.jspecify.annotations.NullMarked;

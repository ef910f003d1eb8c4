/**
 * Records of a partition's state and their stored form. Pure: no files, sockets, clocks, threads,
 * randomness.
 */
@NullMarked
package org.globalfs.replica.state.model;

import org.jspecify.annotations.NullMarked;

/**
 * Recorded runs: clients do random operations in the mounts of a cluster while something breaks it,
 * and every invocation and outcome is written down for a checker.
 */
@NullMarked
package org.globalfs.jepsen;

import org.jspecify.annotations.NullMarked;

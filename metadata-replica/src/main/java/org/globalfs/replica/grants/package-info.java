/**
 * What sessions may cache without asking: grants at a partition's coordinator, in memory, and their
 * recall before updates.
 */
@NullMarked
package org.globalfs.replica.grants;

import org.jspecify.annotations.NullMarked;

/**
 * Black-box tests: whole clusters of real processes, driven through the command line and the
 * mounts.
 */
@NullMarked
package org.globalfs.systemtests;

import org.jspecify.annotations.NullMarked;

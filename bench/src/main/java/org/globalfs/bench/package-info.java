/** Microbenchmarks. */
@NullMarked
package org.globalfs.bench;

import org.jspecify.annotations.NullMarked;

/** The benchmark program: {@code globalfs bench}. */
@NullMarked
package org.globalfs.bench;

import org.jspecify.annotations.NullMarked;

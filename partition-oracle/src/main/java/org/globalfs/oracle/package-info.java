/** Where a path is and which partitions an update touches. */
@NullMarked
package org.globalfs.oracle;

import org.jspecify.annotations.NullMarked;

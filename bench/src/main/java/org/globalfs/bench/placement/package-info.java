/** Move policies beside trees that stay and beside the best that could have been. */
@NullMarked
package org.globalfs.bench.placement;

import org.jspecify.annotations.NullMarked;

/** Checks of recorded histories. */
@NullMarked
package org.globalfs.jepsen;

import org.jspecify.annotations.NullMarked;

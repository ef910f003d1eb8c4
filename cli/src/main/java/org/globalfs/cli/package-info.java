/** The globalfs program. */
@NullMarked
package org.globalfs.cli;

import org.jspecify.annotations.NullMarked;

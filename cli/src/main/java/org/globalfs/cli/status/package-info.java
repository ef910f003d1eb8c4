/** What a cluster looks like from outside. */
@NullMarked
package org.globalfs.cli.status;

import org.jspecify.annotations.NullMarked;

/** The check of the whole tree: each partition by one of its replicas, then what joins them. */
@NullMarked
package org.globalfs.cli.fsck;

import org.jspecify.annotations.NullMarked;

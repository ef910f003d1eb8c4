/** A whole cluster on one machine: its folder, its processes, how they start and stop. */
@NullMarked
package org.globalfs.cli.cluster;

import org.jspecify.annotations.NullMarked;

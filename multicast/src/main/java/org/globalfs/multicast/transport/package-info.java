/** Connections between the processes of a cluster. */
@NullMarked
package org.globalfs.multicast.transport;

import org.jspecify.annotations.NullMarked;

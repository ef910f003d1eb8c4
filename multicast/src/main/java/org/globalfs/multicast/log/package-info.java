/** The durable log that all rings of a process share. */
@NullMarked
package org.globalfs.multicast.log;

import org.jspecify.annotations.NullMarked;

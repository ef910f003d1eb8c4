/** The byte form of messages and log payloads. */
@NullMarked
package org.globalfs.multicast.wire;

import org.jspecify.annotations.NullMarked;

/** A cluster of real processes to test: on loopback, or each region in a network of its own. */
@NullMarked
package org.globalfs.jepsen.cluster;

import org.jspecify.annotations.NullMarked;

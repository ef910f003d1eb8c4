/**
 * What the client may know without asking: attributes, names and content maps under grants of a
 * partition's coordinator, and for a moment what it read of the global partition.
 */
@NullMarked
package org.globalfs.client.cache;

import org.jspecify.annotations.NullMarked;

/**
 * Which storage nodes hold the chunks of a block: a pure function of block id and placement epoch.
 */
@NullMarked
package org.globalfs.datastore.placement;

import org.jspecify.annotations.NullMarked;

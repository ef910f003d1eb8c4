/**
 * What the region's cache keeps, as Agar decides it (ICDCS'17; thesis ch. 5), and simpler policies
 * to compare with. Pure: time and requests are passed in.
 */
@NullMarked
package org.globalfs.datastore.cache.policy;

import org.jspecify.annotations.NullMarked;

/**
 * The role `cache`: what a region keeps of other regions' blocks, as Agar's policy says (ICDCS'17;
 * thesis, ch. 5).
 */
@NullMarked
package org.globalfs.datastore.cache;

import org.jspecify.annotations.NullMarked;

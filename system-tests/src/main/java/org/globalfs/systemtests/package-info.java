/** Black-box tests of whole clusters. */
@NullMarked
package org.globalfs.systemtests;

import org.jspecify.annotations.NullMarked;

/** What can be done to a cluster. */
@NullMarked
package org.globalfs.jepsen.fault;

import org.jspecify.annotations.NullMarked;

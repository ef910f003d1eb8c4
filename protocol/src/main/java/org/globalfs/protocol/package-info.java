/** Thrift IDL, ids, wire records, configuration, discovery and base types. */
@NullMarked
package org.globalfs.protocol;

import org.jspecify.annotations.NullMarked;

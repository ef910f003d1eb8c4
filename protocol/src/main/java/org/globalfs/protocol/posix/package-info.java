/**
 * Rules of POSIX that a replica and a client must judge alike: permissions, access control lists,
 * extended attributes. Pure.
 */
@NullMarked
package org.globalfs.protocol.posix;

import org.jspecify.annotations.NullMarked;

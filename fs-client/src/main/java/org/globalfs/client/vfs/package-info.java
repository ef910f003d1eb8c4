/**
 * The inode-based file system interface between the kernel protocol ({@code client.fuse}) and
 * GlobalFS's client.
 */
@NullMarked
package org.globalfs.client.vfs;

import org.jspecify.annotations.NullMarked;

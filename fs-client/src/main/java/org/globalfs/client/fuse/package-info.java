/**
 * The kernel's FUSE protocol, spoken directly to {@code /dev/fuse} through the foreign function
 * interface.
 *
 * <p>A request's way: {@link org.globalfs.client.fuse.Worker} reads it into its {@link
 * org.globalfs.client.fuse.Exchange}, {@link org.globalfs.client.fuse.Dispatcher} (the one function
 * that every operation leaves through) finds its {@link org.globalfs.client.fuse.Opcode} and runs
 * one method of {@code InodeOperations}, {@code NameOperations}, {@code FileOperations} or {@code
 * DirectoryOperations} on the {@link org.globalfs.client.vfs.FileSystem}; the same worker writes
 * the answer to the descriptor that the request came from.
 */
@NullMarked
package org.globalfs.client.fuse;

import org.jspecify.annotations.NullMarked;

/**
 * The portable binding: any {@link org.globalfs.client.vfs.FileSystem} through libfuse 2 and
 * jnr-fuse, for kernels that {@link org.globalfs.client.fuse} refuses.
 *
 * <p>A call's way: a thread of libfuse's calls back ({@link org.globalfs.client.jnr.Callbacks}) →
 * the operation ({@code InodeCalls}, {@code NameCalls}, {@code FileCalls}, {@code DirectoryCalls},
 * {@code XattrCalls}, {@code LockCalls}) copies what the library lent → {@link
 * org.globalfs.client.jnr.Calls} has a thread of its own do the work, waits for it not longer than
 * the deadline, counts and logs it → the operation puts the outcome where the library wants it.
 *
 * <p>libfuse names files by paths. An operation looks its path up from the root ({@link
 * org.globalfs.client.jnr.Walk}) and takes the counted lookups back at its end; open files come by
 * their handle, without a path. The kernel is told to remember nothing. docs/fuse.md lists what
 * cannot be said this way.
 */
@NullMarked
package org.globalfs.client.jnr;

import org.jspecify.annotations.NullMarked;

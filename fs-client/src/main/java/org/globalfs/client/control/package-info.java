/**
 * A running mount's other door: a Unix socket at which {@code globalfs stats} and {@code globalfs
 * trace} ask what it does. The mount itself is never touched for that, so it may hang or be busy.
 */
@NullMarked
package org.globalfs.client.control;

import org.jspecify.annotations.NullMarked;

/** Replicated metadata state machine and its service. */
@NullMarked
package org.globalfs.metadata;

import org.jspecify.annotations.NullMarked;

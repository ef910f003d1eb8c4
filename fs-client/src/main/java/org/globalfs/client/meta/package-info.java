/**
 * Commands and reads to metadata replicas: which replica, when again, and what the session has
 * seen. A call here has one of two ends: an answer of the replicated state (its errno included), or
 * EIO after the time-out; dead replicas, moved coordinators and lost replies in between stay
 * inside.
 */
@NullMarked
package org.globalfs.client.meta;

import org.jspecify.annotations.NullMarked;

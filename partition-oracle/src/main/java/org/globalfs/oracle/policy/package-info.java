/**
 * Who uses what, and which trees should move for that: pure decisions, without clocks, sockets and
 * threads.
 */
@NullMarked
package org.globalfs.oracle.policy;

import org.jspecify.annotations.NullMarked;

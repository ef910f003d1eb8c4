/** One process of a measured ring: takes commands on standard input, answers on standard output. */
@NullMarked
package org.globalfs.bench.multicast.member;

import org.jspecify.annotations.NullMarked;

/** Where benchmarks run: child processes, their folder, this machine, and a WAN lab on it. */
@NullMarked
package org.globalfs.bench.lab;

import org.jspecify.annotations.NullMarked;

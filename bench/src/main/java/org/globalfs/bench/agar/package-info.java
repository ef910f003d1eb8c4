/** Agar beside simpler caches, simulated in the setting of its paper. */
@NullMarked
package org.globalfs.bench.agar;

import org.jspecify.annotations.NullMarked;

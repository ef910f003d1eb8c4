/** What histories say besides their verdicts: how much was done, how fast, and what stood still. */
@NullMarked
package org.globalfs.jepsen.report;

import org.jspecify.annotations.NullMarked;

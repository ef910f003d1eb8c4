package org.globalfs.jepsen;

import java.util.List;

/**
 * What became of an operation in the end, and when it had failed with EIO before.
 *
 * @param refused when each try began that failed so, and when it ended, in turns: nanoseconds of
 *     the history's clock
 */
record Answer(Outcome outcome, List<Long> refused) {}

/** The globalfs program: entry point, exit codes, logging. */
@NullMarked
package org.globalfs.cli;

import org.jspecify.annotations.NullMarked;

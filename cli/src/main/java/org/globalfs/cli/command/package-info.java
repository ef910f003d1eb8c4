/** The commands that people type. */
@NullMarked
package org.globalfs.cli.command;

import org.jspecify.annotations.NullMarked;

/** One server process: the roles that its configuration names. */
@NullMarked
package org.globalfs.cli.server;

import org.jspecify.annotations.NullMarked;

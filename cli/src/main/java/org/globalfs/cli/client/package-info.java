/** How the program's commands reach a cluster. */
@NullMarked
package org.globalfs.cli.client;

import org.jspecify.annotations.NullMarked;

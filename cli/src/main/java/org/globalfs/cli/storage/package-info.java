/** What an operator does with storage nodes. */
@NullMarked
package org.globalfs.cli.storage;

import org.jspecify.annotations.NullMarked;

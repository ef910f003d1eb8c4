/**
 * The storage node: keeps chunks in segment files and serves them (docs/formats/chunk-segment.md).
 */
@NullMarked
package org.globalfs.datastore.node;

import org.jspecify.annotations.NullMarked;

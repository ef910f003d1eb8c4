@NullMarked
package org.globalfs.replica.state.operations;

import org.jspecify.annotations.NullMarked;

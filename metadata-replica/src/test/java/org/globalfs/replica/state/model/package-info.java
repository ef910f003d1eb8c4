@NullMarked
package org.globalfs.replica.state.model;

import org.jspecify.annotations.NullMarked;

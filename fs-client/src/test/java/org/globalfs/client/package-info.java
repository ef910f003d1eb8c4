@NullMarked
package org.globalfs.client;

import org.jspecify.annotations.NullMarked;

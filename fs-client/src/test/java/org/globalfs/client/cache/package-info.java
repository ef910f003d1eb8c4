@NullMarked
package org.globalfs.client.cache;

import org.jspecify.annotations.NullMarked;

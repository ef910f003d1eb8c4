@NullMarked
package org.globalfs.client.use;

import org.jspecify.annotations.NullMarked;

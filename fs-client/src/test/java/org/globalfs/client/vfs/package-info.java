@NullMarked
package org.globalfs.client.vfs;

import org.jspecify.annotations.NullMarked;

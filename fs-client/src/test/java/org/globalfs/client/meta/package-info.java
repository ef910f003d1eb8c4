@NullMarked
package org.globalfs.client.meta;

import org.jspecify.annotations.NullMarked;

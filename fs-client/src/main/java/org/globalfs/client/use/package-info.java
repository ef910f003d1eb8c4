/**
 * What this client does in which directories, and its reports of that to the partition oracle of
 * its region.
 */
@NullMarked
package org.globalfs.client.use;

import org.jspecify.annotations.NullMarked;

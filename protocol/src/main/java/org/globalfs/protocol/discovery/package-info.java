/**
 * Who is there: processes, their roles and addresses, and the placement epochs of the datastore.
 */
@NullMarked
package org.globalfs.protocol.discovery;

import org.jspecify.annotations.NullMarked;

/**
 * Calls between processes: Thrift's call format, framed, with the compact protocol, over blocking
 * sockets.
 */
@NullMarked
package org.globalfs.protocol.rpc;

import org.jspecify.annotations.NullMarked;

/** Configuration: strict YAML read into records. */
@NullMarked
package org.globalfs.protocol.config;

import org.jspecify.annotations.NullMarked;

/** Changes of the rings' memberships, as an operator asks for them. */
@NullMarked
package org.globalfs.cli.ring;

import org.jspecify.annotations.NullMarked;

/** Reed-Solomon code over GF(2^8), bit-identical to ISA-L's Cauchy code. */
@NullMarked
package org.globalfs.datastore.erasure;

import org.jspecify.annotations.NullMarked;

/** The block store in buckets of S3, or of a service that speaks its protocol: one a region. */
@NullMarked
package org.globalfs.datastore.s3;

import org.jspecify.annotations.NullMarked;

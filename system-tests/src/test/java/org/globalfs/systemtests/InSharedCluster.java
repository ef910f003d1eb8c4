package org.globalfs.systemtests;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * A test class that works in the cluster of {@link SharedCluster}. They are the last to run: a
 * cluster that idles beside the others' takes a twelfth of two processors.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@ExtendWith(SharedCluster.class)
@Order(Integer.MAX_VALUE)
@interface InSharedCluster {}

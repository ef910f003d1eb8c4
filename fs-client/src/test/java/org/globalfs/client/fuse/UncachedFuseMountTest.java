package org.globalfs.client.fuse;

/** The same with nothing remembered by the kernel, and explicit invalidation. */
class UncachedFuseMountTest extends FuseMountTest {
    @Override
    String[] options() {
        return new String[] {"0", "60000", "explicit"};
    }
}

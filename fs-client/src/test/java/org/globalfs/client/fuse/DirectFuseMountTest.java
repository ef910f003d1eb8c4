package org.globalfs.client.fuse;

/** The same with reads and writes that bypass the page cache, and only two threads at work. */
class DirectFuseMountTest extends FuseMountTest {
    @Override
    String[] options() {
        return new String[] {"1000", "60000", "direct", "threads=4"};
    }
}

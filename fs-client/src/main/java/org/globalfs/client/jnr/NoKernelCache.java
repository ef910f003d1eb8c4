package org.globalfs.client.jnr;

import java.util.Collection;
import org.globalfs.client.vfs.KernelCache;
import org.jspecify.annotations.Nullable;

/** libfuse 2 cannot take back what the kernel remembers, so here the kernel remembers nothing. */
final class NoKernelCache implements KernelCache {

    @Override
    public void invalidateInode(long ino, long offset, long length) {}

    @Override
    public void invalidateEntry(long parent, byte[] name) {}

    @Override
    public void entryMoved(long parent, byte[] name) {}

    @Override
    public boolean await(Collection<Long> inodes, long timeoutMs) {
        return true;
    }

    @Override
    public boolean awaitInode(long ino, long timeoutMs) {
        return true;
    }

    @Override
    public void afterInode(long ino, Runnable then) {
        then.run();
    }

    @Override
    public @Nullable Doubt doubt(long ino) {
        return null;
    }

    @Override
    public void shortened(long ino) {}

    @Override
    public boolean isStoring(long ino) {
        return false;
    }

    @Override
    public boolean mapsDirectFiles() {
        return false;
    }

    @Override
    public boolean forgetsAtOnce() {
        return true;
    }

    @Override
    public void forgetNow(Collection<Long> inodes, long believedNs) {}
}

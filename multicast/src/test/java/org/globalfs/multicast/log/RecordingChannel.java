package org.globalfs.multicast.log;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.ReadableByteChannel;
import java.nio.channels.WritableByteChannel;
import java.util.BitSet;

/** A file of which it is known what was written to it, and what of that was there at a sync. */
final class RecordingChannel extends FileChannel {
    private final FileChannel file;
    private final BitSet written = new BitSet();
    private final BitSet synced = new BitSet();

    RecordingChannel(FileChannel file) {
        this.file = file;
    }

    boolean synced(int from, int to) {
        return synced.nextClearBit(from) >= to;
    }

    @Override
    public int write(ByteBuffer bytes, long at) throws IOException {
        int count = file.write(bytes, at);
        written.set((int) at, (int) at + count);
        return count;
    }

    @Override
    public void force(boolean metaData) throws IOException {
        file.force(metaData);
        synced.or(written);
    }

    @Override
    public int read(ByteBuffer bytes, long at) throws IOException {
        return file.read(bytes, at);
    }

    @Override
    public long size() throws IOException {
        return file.size();
    }

    @Override
    protected void implCloseChannel() throws IOException {
        file.close();
    }

    @Override
    public int read(ByteBuffer bytes) {
        throw new UnsupportedOperationException();
    }

    @Override
    public long read(ByteBuffer[] bytes, int offset, int length) {
        throw new UnsupportedOperationException();
    }

    @Override
    public int write(ByteBuffer bytes) {
        throw new UnsupportedOperationException();
    }

    @Override
    public long write(ByteBuffer[] bytes, int offset, int length) {
        throw new UnsupportedOperationException();
    }

    @Override
    public long position() {
        throw new UnsupportedOperationException();
    }

    @Override
    public FileChannel position(long at) {
        throw new UnsupportedOperationException();
    }

    @Override
    public FileChannel truncate(long size) {
        throw new UnsupportedOperationException();
    }

    @Override
    public long transferTo(long at, long count, WritableByteChannel to) {
        throw new UnsupportedOperationException();
    }

    @Override
    public long transferFrom(ReadableByteChannel from, long at, long count) {
        throw new UnsupportedOperationException();
    }

    @Override
    public MappedByteBuffer map(MapMode mode, long at, long size) {
        throw new UnsupportedOperationException();
    }

    @Override
    public FileLock lock(long at, long size, boolean shared) {
        throw new UnsupportedOperationException();
    }

    @Override
    public FileLock tryLock(long at, long size, boolean shared) {
        throw new UnsupportedOperationException();
    }
}

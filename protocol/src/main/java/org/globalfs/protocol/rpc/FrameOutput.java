package org.globalfs.protocol.rpc;

import java.io.IOException;
import java.io.OutputStream;
import java.util.Arrays;
import org.apache.thrift.TConfiguration;
import org.apache.thrift.transport.TTransport;
import org.apache.thrift.transport.TTransportException;

/** Collects one outgoing frame behind its length, so that it leaves in a single write. */
final class FrameOutput extends TTransport {

    private static final int HEADER_BYTES = 4;
    private static final int INITIAL_BYTES = 4096;
    private static final int KEPT_BYTES = 256 * 1024;

    private final TConfiguration configuration;
    private byte[] buffer = new byte[INITIAL_BYTES];
    private int end = HEADER_BYTES;

    FrameOutput(TConfiguration configuration) {
        this.configuration = configuration;
    }

    void reset() {
        if (buffer.length > KEPT_BYTES) {
            buffer = new byte[INITIAL_BYTES];
        }
        end = HEADER_BYTES;
    }

    int bodyBytes() {
        return end - HEADER_BYTES;
    }

    void writeTo(OutputStream out) throws IOException {
        int length = bodyBytes();
        buffer[0] = (byte) (length >>> 24);
        buffer[1] = (byte) (length >>> 16);
        buffer[2] = (byte) (length >>> 8);
        buffer[3] = (byte) length;
        out.write(buffer, 0, end);
    }

    @Override
    public void write(byte[] source, int offset, int length) throws TTransportException {
        int needed = end + length;
        if (needed > buffer.length) {
            if (needed - HEADER_BYTES > configuration.getMaxFrameSize()) {
                throw new TTransportException(
                        TTransportException.MESSAGE_SIZE_LIMIT,
                        "message of more than " + configuration.getMaxFrameSize() + " bytes");
            }
            buffer = Arrays.copyOf(buffer, Math.max(needed, 2 * buffer.length));
        }
        System.arraycopy(source, offset, buffer, end, length);
        end = needed;
    }

    @Override
    public boolean isOpen() {
        return true;
    }

    @Override
    public void open() {}

    @Override
    public void close() {}

    @Override
    public int read(byte[] target, int offset, int length) throws TTransportException {
        throw new TTransportException("write only");
    }

    @Override
    public TConfiguration getConfiguration() {
        return configuration;
    }

    @Override
    public void updateKnownMessageSize(long size) {}

    @Override
    public void checkReadBytesAvailable(long count) {}

    @Override
    public void resetMessageSizeAndConsumedBytes(long size) {}
}

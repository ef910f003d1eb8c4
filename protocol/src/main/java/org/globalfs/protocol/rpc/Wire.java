package org.globalfs.protocol.rpc;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.util.Arrays;
import org.apache.thrift.TApplicationException;
import org.apache.thrift.TConfiguration;
import org.apache.thrift.TException;
import org.apache.thrift.TSerializable;
import org.apache.thrift.protocol.TCompactProtocol;
import org.apache.thrift.protocol.TField;
import org.apache.thrift.protocol.TMessage;
import org.apache.thrift.protocol.TMessageType;
import org.apache.thrift.protocol.TProtocol;
import org.apache.thrift.protocol.TProtocolUtil;
import org.apache.thrift.protocol.TStruct;
import org.apache.thrift.protocol.TType;
import org.apache.thrift.transport.TMemoryInputTransport;
import org.jspecify.annotations.Nullable;

/**
 * One end of a connection: frames in and out, and the envelope around a call's request or reply.
 * One thread at a time.
 */
final class Wire implements AutoCloseable {

    private static final TStruct ENVELOPE = new TStruct("");
    private static final short REQUEST_FIELD = 1;
    private static final short REPLY_FIELD = 0;
    private static final int READ_AHEAD_BYTES = 16 * 1024;

    /** Room for so much of a message is made at once. */
    private static final int TRUSTED_BYTES = 64 * 1024;

    /** An element of a byte in a message can take more than 50 in memory. */
    static final long MOST_REQUESTED_ELEMENTS = 1 << 20;

    static final long ANY_ELEMENTS = -1;
    private static final long ANY_LENGTH = -1;

    private final Socket socket;
    private final InputStream in;
    private final OutputStream out;
    private final TConfiguration configuration;
    private final long mostElements;
    private final FrameOutput frame;
    private final TProtocol writer;
    private final byte[] ahead = new byte[READ_AHEAD_BYTES];
    private int aheadStart;
    private int aheadEnd;

    /**
     * @param mostElements that a list, set or map which arrives may have, or {@link #ANY_ELEMENTS}
     */
    Wire(Socket socket, int maxFrameBytes, long mostElements) throws IOException {
        this.socket = socket;
        this.mostElements = mostElements;
        socket.setTcpNoDelay(true);
        socket.setKeepAlive(true);
        this.in = socket.getInputStream();
        this.out = socket.getOutputStream();
        this.configuration = configuration(maxFrameBytes);
        this.frame = new FrameOutput(configuration);
        this.writer = new TCompactProtocol(frame);
    }

    static TConfiguration configuration(int maxFrameBytes) {
        return new TConfiguration(
                maxFrameBytes, maxFrameBytes, TConfiguration.DEFAULT_RECURSION_DEPTH);
    }

    /** A message whose envelope is read up to the field that holds the request or the reply. */
    record Incoming(TMessage message, TProtocol body) {}

    void encodeCall(String method, int sequence, TSerializable request) throws TException {
        encode(new TMessage(method, TMessageType.CALL, sequence), REQUEST_FIELD, request);
    }

    void encodeReply(String method, int sequence, TSerializable reply) throws TException {
        encode(new TMessage(method, TMessageType.REPLY, sequence), REPLY_FIELD, reply);
    }

    void encodeFailure(String method, int sequence, TApplicationException failure)
            throws TException {
        frame.reset();
        writer.reset();
        writer.writeMessageBegin(new TMessage(method, TMessageType.EXCEPTION, sequence));
        failure.write(writer);
        writer.writeMessageEnd();
    }

    private void encode(TMessage message, short fieldId, TSerializable struct) throws TException {
        frame.reset();
        writer.reset();
        writer.writeMessageBegin(message);
        writer.writeStructBegin(ENVELOPE);
        writer.writeFieldBegin(new TField("", TType.STRUCT, fieldId));
        struct.write(writer);
        writer.writeFieldEnd();
        writer.writeFieldStop();
        writer.writeStructEnd();
        writer.writeMessageEnd();
    }

    /** Of what was encoded last. */
    int encodedBytes() {
        return frame.bodyBytes();
    }

    /** Sends what was encoded last. */
    void send() throws IOException {
        frame.writeTo(out);
        out.flush();
    }

    /**
     * The next message.
     *
     * @param deadlineNs of System.nanoTime, or 0 to wait for ever
     * @return null: the other side closed the connection between two messages
     */
    @Nullable Incoming receive(long deadlineNs) throws IOException, TException {
        byte[] body = readFrame(deadlineNs);
        if (body == null) {
            return null;
        }
        TProtocol reader =
                new TCompactProtocol(
                        new TMemoryInputTransport(configuration, body), ANY_LENGTH, mostElements);
        return new Incoming(reader.readMessageBegin(), reader);
    }

    /** Reads the request of a call into {@code request}; false when the envelope holds none. */
    static boolean readRequest(TProtocol body, TSerializable request) throws TException {
        return readField(body, REQUEST_FIELD, request);
    }

    static boolean readReply(TProtocol body, TSerializable reply) throws TException {
        return readField(body, REPLY_FIELD, reply);
    }

    private static boolean readField(TProtocol body, short wanted, TSerializable struct)
            throws TException {
        boolean found = false;
        body.readStructBegin();
        for (TField field = body.readFieldBegin();
                field.type != TType.STOP;
                field = body.readFieldBegin()) {
            if (field.id == wanted && field.type == TType.STRUCT) {
                struct.read(body);
                found = true;
            } else {
                TProtocolUtil.skip(body, field.type);
            }
            body.readFieldEnd();
        }
        body.readStructEnd();
        body.readMessageEnd();
        return found;
    }

    private byte @Nullable [] readFrame(long deadlineNs) throws IOException {
        while (aheadEnd - aheadStart < 4) {
            if (!readAhead(deadlineNs)) {
                if (aheadEnd > aheadStart) {
                    throw new IOException("connection closed inside a message");
                }
                return null;
            }
        }
        int length =
                (ahead[aheadStart] & 0xff) << 24
                        | (ahead[aheadStart + 1] & 0xff) << 16
                        | (ahead[aheadStart + 2] & 0xff) << 8
                        | (ahead[aheadStart + 3] & 0xff);
        aheadStart += 4;
        if (length <= 0 || length > configuration.getMaxFrameSize()) {
            throw new IOException(
                    "message length "
                            + length
                            + " is not within 1.."
                            + configuration.getMaxFrameSize()
                            + ": not a framed Thrift peer, or a message too large");
        }
        // A fresh array: the structs read from it keep pointing into it. What is not here yet gets
        // room as it comes, or a few strangers could take all memory by saying how much comes.
        byte[] body = new byte[Math.min(length, TRUSTED_BYTES)];
        int have = Math.min(body.length, aheadEnd - aheadStart);
        System.arraycopy(ahead, aheadStart, body, 0, have);
        aheadStart += have;
        while (have < length) {
            if (have == body.length) {
                body = Arrays.copyOf(body, (int) Math.min(length, 2L * have));
            }
            limitWait(deadlineNs);
            int count = in.read(body, have, body.length - have);
            if (count < 0) {
                throw new IOException("connection closed inside a message");
            }
            have += count;
        }
        return body;
    }

    private boolean readAhead(long deadlineNs) throws IOException {
        if (aheadStart > 0) {
            System.arraycopy(ahead, aheadStart, ahead, 0, aheadEnd - aheadStart);
            aheadEnd -= aheadStart;
            aheadStart = 0;
        }
        limitWait(deadlineNs);
        int count = in.read(ahead, aheadEnd, ahead.length - aheadEnd);
        if (count < 0) {
            return false;
        }
        aheadEnd += count;
        return true;
    }

    private void limitWait(long deadlineNs) throws IOException {
        if (deadlineNs != 0) {
            long leftMs = (deadlineNs - System.nanoTime() + 999_999) / 1_000_000;
            if (leftMs <= 0) {
                throw new SocketTimeoutException("no reply in time");
            }
            socket.setSoTimeout((int) Math.min(leftMs, Integer.MAX_VALUE));
        }
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}

package org.globalfs.datastore.wire;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;

/**
 * How far a storage node is with the pass over all its chunks that it was asked for, or how the
 * last such pass ended.
 *
 * @param pass counted from 1 since the node started; 0: there was none
 * @param elapsedMs since the pass began, until it ended
 * @param totalBytes to read; once it has ended, what was read
 * @param bytesPerSecond it reads at most
 * @param damaged chunks that were found damaged while it ran, or known to be when it began
 * @param mended of these, written again
 * @param left of these, damaged still
 * @param unreadable chunks that the disk did not give
 * @param problems of some of those left and unreadable, why
 */
public record ScrubProgress(
        long pass,
        PassState state,
        long elapsedMs,
        long totalBytes,
        long readBytes,
        long bytesPerSecond,
        long damaged,
        long mended,
        long left,
        long unreadable,
        List<String> problems) {

    /** Of a node that was not asked for any yet, or does none. */
    public static ScrubProgress none(PassState state) {
        return new ScrubProgress(0, state, 0, 0, 0, 0, 0, 0, 0, 0, List.of());
    }

    /** The fields of the reply's meta; a later version may append some. */
    public void write(ByteBuffer to) {
        to.putLong(pass).put((byte) state.code()).putLong(elapsedMs);
        to.putLong(totalBytes).putLong(readBytes).putLong(bytesPerSecond);
        to.putLong(damaged).putLong(mended).putLong(left).putLong(unreadable);
    }

    /** The reply's payload. */
    public ByteBuffer texts() {
        ByteBuffer texts = ByteBuffer.allocate(Texts.room(problems));
        Texts.write(texts, problems);
        return texts.flip();
    }

    static ScrubProgress read(ByteBuffer from, ByteBuffer texts) throws IOException {
        return new ScrubProgress(
                from.getLong(),
                PassState.of(from.get()),
                from.getLong(),
                from.getLong(),
                from.getLong(),
                from.getLong(),
                from.getLong(),
                from.getLong(),
                from.getLong(),
                from.getLong(),
                Texts.read(texts));
    }
}

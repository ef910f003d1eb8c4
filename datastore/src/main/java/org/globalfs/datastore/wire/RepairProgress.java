package org.globalfs.datastore.wire;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * How far a storage node is with a walk over its chunks that sees to it that all of their blocks'
 * chunks exist and are where they belong, or how the last one ended.
 *
 * @param pass counted from 1 since the node started; 0: there was none
 * @param elapsedMs since the pass began, until it ended
 * @param total chunks to look at, blocks to look at again, and, once more, chunks that are to be
 *     moved
 * @param looked of these, done
 * @param moved chunks, to where they belong
 * @param rebuilt chunks that nobody had, made anew
 * @param toMove chunks that should have been moved
 * @param toRebuild chunks that should have been made anew
 * @param unclear blocks that another node did not say all of
 * @param unmade blocks that too few chunks are there of
 * @param away nodes that are away, and not for so long yet that their chunks are made anew
 * @param problems of some of those left, why
 */
public record RepairProgress(
        long pass,
        PassState state,
        long elapsedMs,
        long total,
        long looked,
        long moved,
        long rebuilt,
        long toMove,
        long toRebuild,
        long unclear,
        long unmade,
        List<Away> away,
        List<String> problems) {

    /**
     * A node that is away.
     *
     * @param chunks of it that nobody has, and that this node would make anew
     * @param deadInMs when it will be taken for dead; negative: all nodes of its region are away,
     *     and nobody elsewhere may have its chunks
     */
    public record Away(String id, long chunks, long deadInMs) {}

    /** Of a node without any pass yet, or none ever. */
    public static RepairProgress none(PassState state) {
        return new RepairProgress(0, state, 0, 0, 0, 0, 0, 0, 0, 0, 0, List.of(), List.of());
    }

    /** The same pass, and what comes next. */
    public RepairProgress in(PassState other) {
        return new RepairProgress(
                pass, other, elapsedMs, total, looked, moved, rebuilt, toMove, toRebuild, unclear,
                unmade, away, problems);
    }

    /** The fields of the reply's meta; a later version may append some. */
    public void write(ByteBuffer to) {
        to.putLong(pass).put((byte) state.code()).putLong(elapsedMs);
        to.putLong(total).putLong(looked).putLong(moved).putLong(rebuilt);
        to.putLong(toMove).putLong(toRebuild).putLong(unclear).putLong(unmade);
    }

    /** The reply's payload. */
    public ByteBuffer texts() {
        ByteBuffer texts =
                ByteBuffer.allocate(
                        Short.BYTES + (256 + 2 * Long.BYTES) * away.size() + Texts.room(problems));
        texts.putShort((short) away.size());
        for (Away node : away) {
            Frame.writeString(texts, node.id);
            texts.putLong(node.chunks).putLong(node.deadInMs);
        }
        Texts.write(texts, problems);
        return texts.flip();
    }

    static RepairProgress read(ByteBuffer from, ByteBuffer texts) throws IOException {
        List<Away> away = new ArrayList<>();
        int count = texts.getShort() & 0xffff;
        for (int i = 0; i < count; i++) {
            away.add(new Away(Frame.readString(texts), texts.getLong(), texts.getLong()));
        }
        return new RepairProgress(
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
                from.getLong(),
                away,
                Texts.read(texts));
    }
}

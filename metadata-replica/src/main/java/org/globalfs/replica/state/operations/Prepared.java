package org.globalfs.replica.state.operations;

import java.nio.ByteBuffer;
import java.util.LinkedHashSet;
import java.util.Set;
import org.globalfs.replica.state.model.CorruptRecordException;
import org.globalfs.replica.state.model.Packer;
import org.globalfs.replica.state.model.Unpacker;
import org.globalfs.replica.state.operations.Locks.Copying;
import org.globalfs.replica.state.operations.Locks.DirectoryMoves;
import org.globalfs.replica.state.operations.Locks.EntryLock;
import org.globalfs.replica.state.operations.Locks.InodeLock;
import org.globalfs.replica.state.operations.Locks.Leaving;
import org.globalfs.replica.state.operations.Locks.Lock;

/**
 * A partition's share of an undecided coordinated operation: its vote, and what it holds for it
 * (nothing after a no).
 */
record Prepared(Facts facts, Set<Lock> locks) {

    private static final int FORMAT = 1;
    private static final int ENTRY = 1;
    private static final int INODE = 2;
    private static final int MOVES = 3;
    private static final int LEAVING = 4;
    private static final int COPYING = 5;

    /** Together with another share of the same partition; nothing is held when one refuses. */
    Prepared and(Prepared other) {
        Facts both = facts.with(other.facts);
        if (both.refusal() != 0) {
            return new Prepared(Facts.NONE.refusing(both.refusal()), Set.of());
        }
        Set<Lock> all = new LinkedHashSet<>(locks);
        all.addAll(other.locks);
        return new Prepared(both, all);
    }

    byte[] encode() {
        Packer out = new Packer(96).u8(FORMAT).blob(facts.encode()).varint(locks.size());
        for (Lock lock : locks) {
            switch (lock) {
                case EntryLock entry ->
                        out.u8(ENTRY).i64(entry.parent()).blob(entry.name().array());
                case InodeLock inode -> out.u8(INODE).i64(inode.ino());
                case DirectoryMoves _ -> out.u8(MOVES);
                case Leaving leaving -> out.u8(LEAVING).i64(leaving.ino());
                case Copying copying -> out.u8(COPYING).i64(copying.ino());
            }
        }
        return out.done();
    }

    static Prepared decode(byte[] value) {
        Unpacker in = new Unpacker(value).version(FORMAT, "intent");
        Facts facts = Facts.decode(in.blob());
        Set<Lock> locks = new LinkedHashSet<>();
        for (long left = in.varint(); left > 0; left--) {
            locks.add(
                    switch (in.u8()) {
                        case ENTRY -> new EntryLock(in.i64(), ByteBuffer.wrap(in.blob()));
                        case INODE -> new InodeLock(in.i64());
                        case MOVES -> new DirectoryMoves();
                        case LEAVING -> new Leaving(in.i64());
                        case COPYING -> new Copying(in.i64());
                        default -> throw new CorruptRecordException("lock of unknown kind");
                    });
        }
        return new Prepared(facts, locks);
    }
}

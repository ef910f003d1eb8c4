package org.globalfs.replica.state.model;

import java.util.ArrayList;
import java.util.List;

/** Stored form of the verdicts of one instance for one partition. */
public final class VerdictCodec {

    private static final int FORMAT = 1;
    private static final int PREPARE = 1;
    private static final int COMMIT = 2;
    private static final int ABORT = 3;
    private static final int PREPARE_MOVE = 4;
    private static final int REMOVE_ENTRY = 1;
    private static final int PUT_ENTRY = 2;
    private static final int DROP_LINK = 3;
    private static final int ADD_LINK = 4;
    private static final int RENAMED = 5;
    private static final int CREATE_DIRECTORY = 6;
    private static final int CREATE_DIRECTORY_WITH_ACLS = 7;
    private static final int GLOBAL_BELOW = 8;
    private static final int DEPART = 9;
    private static final int ARRIVE = 10;
    private static final int FORWARD = 11;
    private static final int FORGET = 12;
    private static final int TAKE_BACK = 13;
    private static final int DELIVERED = 14;
    private static final int COPIED = 15;
    private static final int DISCARD = 16;
    private static final byte[] NO_ACL = {};

    private VerdictCodec() {}

    public static byte[] encode(List<Verdict> verdicts) {
        Packer out = new Packer(128).u8(FORMAT).varint(verdicts.size());
        for (Verdict verdict : verdicts) {
            switch (verdict) {
                case Verdict.Prepare v -> pack(out, v);
                case Verdict.Commit v -> {
                    out.u8(COMMIT).i64(v.timestamp()).i64(v.transaction());
                    out.varint(v.effects().size());
                    v.effects().forEach(effect -> pack(out, effect));
                }
                case Verdict.Abort v -> out.u8(ABORT).i64(v.timestamp()).i64(v.transaction());
            }
        }
        return out.done();
    }

    public static List<Verdict> decode(byte[] value) {
        Unpacker in = new Unpacker(value).version(FORMAT, "verdict");
        List<Verdict> verdicts = new ArrayList<>();
        for (long left = in.varint(); left > 0; left--) {
            verdicts.add(
                    switch (in.u8()) {
                        case PREPARE -> prepare(in, false);
                        case PREPARE_MOVE -> prepare(in, true);
                        case COMMIT -> new Verdict.Commit(in.i64(), in.i64(), effects(in));
                        case ABORT -> new Verdict.Abort(in.i64(), in.i64());
                        default -> throw new CorruptRecordException("verdict of unknown kind");
                    });
        }
        return verdicts;
    }

    private static List<Effect> effects(Unpacker in) {
        List<Effect> effects = new ArrayList<>();
        for (long left = in.varint(); left > 0; left--) {
            effects.add(effect(in));
        }
        return effects;
    }

    private static void pack(Packer out, Verdict.Prepare prepare) {
        out.u8(prepare.moves() ? PREPARE_MOVE : PREPARE)
                .i64(prepare.timestamp())
                .i64(prepare.transaction())
                .i64(prepare.source())
                .i64(prepare.target())
                .blob(prepare.command());
        if (prepare.moves()) {
            out.varint(prepare.starts().size());
            prepare.starts().forEach(out::i64);
        }
    }

    private static Verdict.Prepare prepare(Unpacker in, boolean moves) {
        long timestamp = in.i64();
        long transaction = in.i64();
        long source = in.i64();
        long target = in.i64();
        byte[] command = in.blob();
        List<Long> starts = new ArrayList<>();
        for (long left = moves ? in.varint() : 0; left > 0; left--) {
            starts.add(in.i64());
        }
        return new Verdict.Prepare(timestamp, transaction, source, target, command, moves, starts);
    }

    private static void pack(Packer out, Effect effect) {
        switch (effect) {
            case Effect.RemoveEntry e ->
                    out.u8(REMOVE_ENTRY).varint(e.partition()).i64(e.parent()).blob(e.name());
            case Effect.PutEntry e ->
                    out.u8(PUT_ENTRY)
                            .varint(e.partition())
                            .i64(e.parent())
                            .blob(e.name())
                            .i64(e.ino())
                            .varint(e.type());
            case Effect.DropLink e -> out.u8(DROP_LINK).varint(e.partition()).i64(e.ino());
            case Effect.AddLink e -> out.u8(ADD_LINK).varint(e.partition()).i64(e.ino());
            case Effect.Renamed e ->
                    out.u8(RENAMED).varint(e.partition()).i64(e.ino()).i64(e.parent());
            case Effect.GlobalBelow e ->
                    out.u8(GLOBAL_BELOW).varint(e.partition()).varint(e.count());
            case Effect.Depart e -> {
                out.u8(DEPART).varint(e.partition()).varint(e.to());
                pack(out, e.inodes());
            }
            case Effect.Arrive e -> out.u8(ARRIVE).varint(e.partition()).blob(e.cargo());
            case Effect.Forward e -> {
                out.u8(FORWARD).varint(e.partition()).varint(e.to());
                pack(out, e.inodes());
            }
            case Effect.Forget e -> out.u8(FORGET).varint(e.partition()).i64(e.ino());
            case Effect.TakeBack e -> {
                out.u8(TAKE_BACK).varint(e.partition()).varint(e.from()).varint(e.loans());
                Blocks.pack(out, e.block());
            }
            case Effect.Delivered e -> out.u8(DELIVERED).varint(e.partition()).varint(e.through());
            case Effect.Copied e ->
                    out.u8(COPIED).varint(e.partition()).i64(e.ino()).varint(e.part());
            case Effect.Discard e ->
                    out.u8(DISCARD).varint(e.partition()).i64(e.ino()).i64(e.copy());
            case Effect.CreateDirectory e -> {
                out.u8(e.hasAcls() ? CREATE_DIRECTORY_WITH_ACLS : CREATE_DIRECTORY);
                out.varint(e.partition()).i64(e.ino()).varint(e.mode());
                out.unsigned(e.uid()).unsigned(e.gid()).i64(e.timeNs()).i64(e.parent());
                if (e.hasAcls()) {
                    out.blob(e.accessAcl()).blob(e.defaultAcl());
                }
            }
        }
    }

    private static void pack(Packer out, List<Long> inodes) {
        out.varint(inodes.size());
        inodes.forEach(out::i64);
    }

    private static List<Long> inodes(Unpacker in) {
        List<Long> inodes = new ArrayList<>();
        for (long left = in.varint(); left > 0; left--) {
            inodes.add(in.i64());
        }
        return inodes;
    }

    private static Effect effect(Unpacker in) {
        int kind = in.u8();
        int partition = in.varint32();
        return switch (kind) {
            case REMOVE_ENTRY -> new Effect.RemoveEntry(partition, in.i64(), in.blob());
            case PUT_ENTRY ->
                    new Effect.PutEntry(partition, in.i64(), in.blob(), in.i64(), in.varint32());
            case DROP_LINK -> new Effect.DropLink(partition, in.i64());
            case ADD_LINK -> new Effect.AddLink(partition, in.i64());
            case RENAMED -> new Effect.Renamed(partition, in.i64(), in.i64());
            case GLOBAL_BELOW -> new Effect.GlobalBelow(partition, in.varint());
            case DEPART -> {
                int to = in.varint32();
                yield new Effect.Depart(partition, inodes(in), to);
            }
            case ARRIVE -> new Effect.Arrive(partition, in.blob());
            case FORWARD -> {
                int to = in.varint32();
                yield new Effect.Forward(partition, inodes(in), to);
            }
            case FORGET -> new Effect.Forget(partition, in.i64());
            case TAKE_BACK -> {
                int from = in.varint32();
                long loans = in.varint();
                yield new Effect.TakeBack(partition, from, Blocks.unpack(in), loans);
            }
            case DELIVERED -> new Effect.Delivered(partition, in.varint());
            case COPIED -> new Effect.Copied(partition, in.i64(), in.varint());
            case DISCARD -> new Effect.Discard(partition, in.i64(), in.i64());
            case CREATE_DIRECTORY, CREATE_DIRECTORY_WITH_ACLS ->
                    new Effect.CreateDirectory(
                            partition,
                            in.i64(),
                            in.varint32(),
                            in.varint32(),
                            in.varint32(),
                            in.i64(),
                            in.i64(),
                            kind == CREATE_DIRECTORY ? NO_ACL : in.blob(),
                            kind == CREATE_DIRECTORY ? NO_ACL : in.blob());
            default -> throw new CorruptRecordException("effect of unknown kind");
        };
    }
}

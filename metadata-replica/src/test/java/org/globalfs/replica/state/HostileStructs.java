package org.globalfs.replica.state;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.apache.thrift.TBase;
import org.apache.thrift.TEnum;
import org.apache.thrift.TFieldIdEnum;
import org.apache.thrift.TFieldRequirementType;
import org.apache.thrift.TUnion;
import org.apache.thrift.meta_data.EnumMetaData;
import org.apache.thrift.meta_data.FieldMetaData;
import org.apache.thrift.meta_data.FieldValueMetaData;
import org.apache.thrift.meta_data.ListMetaData;
import org.apache.thrift.meta_data.MapMetaData;
import org.apache.thrift.meta_data.StructMetaData;
import org.apache.thrift.protocol.TType;

/**
 * Thrift structs with every field that they may have, filled with what a client would send, and now
 * and then with what none would.
 */
final class HostileStructs {

    private static final long[] LONGS = {
        0, 1, -1, 2, 3, 4096, 65_536, 1L << 31, 1L << 32, 1L << 48, 1L << 62, -(1L << 48)
    };
    private static final int[] INTS = {0, 1, -1, 2, 3, 4, 7, 16, 17, 64, 0777, 07777, 1 << 16};
    private static final int[] TYPES = {
        0100000, 0040000, 0120000, 0010000, 0020000, 0060000, 0140000, 0, 0170000
    };
    private static final String[] NAMES = {
        "user.a",
        "user.globalfs.policy",
        "user.globalfs.placement",
        "system.posix_acl_access",
        "system.posix_acl_default",
        "security.capability",
        "trusted.x",
        "user.",
        "",
        ".",
        "..",
        "a/b",
        "a\0b",
        "x".repeat(255),
        "x".repeat(256),
    };

    private final Random random;
    private final List<Long> inodes;
    private final List<Long> directories;
    private double hostility;

    /**
     * @param inodes numbers to fill in where an inode's belongs; may grow
     * @param directories likewise
     */
    HostileStructs(Random random, List<Long> inodes, List<Long> directories) {
        this.directories = directories;
        this.random = random;
        this.inodes = inodes;
    }

    /** Fills the struct; each field is a stranger's with this probability. */
    <T extends TBase<?, ?>> T fill(T struct, double strange) {
        hostility = strange;
        fillFields(struct);
        return struct;
    }

    @SuppressWarnings({"unchecked", "rawtypes"})
    private <F extends TFieldIdEnum> void fillFields(TBase<?, ?> struct) {
        TBase<?, F> typed = (TBase<?, F>) struct;
        Map<F, FieldMetaData> fields =
                (Map<F, FieldMetaData>)
                        FieldMetaData.getStructMetaDataMap((Class) struct.getClass());
        if (struct instanceof TUnion<?, ?>) {
            List<F> all = new ArrayList<>(fields.keySet());
            F field = all.get(random.nextInt(all.size()));
            typed.setFieldValue(field, value(field.getFieldName(), meta(fields, field)));
            return;
        }
        fields.forEach((field, meta) -> {
            boolean needed = meta.requirementType == TFieldRequirementType.REQUIRED;
            if (needed || random.nextInt(3) == 0) {
                typed.setFieldValue(field, value(field.getFieldName(), meta.valueMetaData));
            }
        });
    }

    private static <F> FieldValueMetaData meta(Map<F, FieldMetaData> fields, F field) {
        FieldMetaData meta = fields.get(field);
        if (meta == null) {
            throw new AssertionError(field);
        }
        return meta.valueMetaData;
    }

    private boolean strange() {
        return random.nextDouble() < hostility;
    }

    Object value(String name, FieldValueMetaData meta) {
        if (meta instanceof StructMetaData struct) {
            return filled(struct.structClass);
        }
        if (meta instanceof ListMetaData list) {
            List<Object> values = new ArrayList<>();
            for (int left = random.nextInt(strange() ? 40 : 4); left > 0; left--) {
                values.add(value(name, list.elemMetaData));
            }
            return values;
        }
        if (meta instanceof MapMetaData map) {
            Map<Object, Object> values = new HashMap<>();
            for (int left = random.nextInt(3); left > 0; left--) {
                values.put(value(name, map.keyMetaData), value(name, map.valueMetaData));
            }
            return values;
        }
        if (meta instanceof EnumMetaData kind) {
            TEnum[] all = kind.enumClass.getEnumConstants();
            return all[random.nextInt(all.length)];
        }
        return switch (meta.type) {
            case TType.BOOL -> random.nextBoolean();
            case TType.BYTE -> (byte) (strange() ? random.nextInt() : 1 + random.nextInt(4));
            case TType.I32 -> number(name);
            case TType.I64 -> longNumber(name);
            case TType.DOUBLE -> random.nextDouble();
            case TType.STRING -> meta.isBinary() ? ByteBuffer.wrap(bytes(name)) : text();
            default -> throw new AssertionError(name + " has type " + meta.type);
        };
    }

    @SuppressWarnings("rawtypes")
    private TBase<?, ?> filled(Class<? extends TBase> type) {
        try {
            TBase<?, ?> made = type.getDeclaredConstructor().newInstance();
            fillFields(made);
            return made;
        } catch (ReflectiveOperationException e) {
            throw new LinkageError("a struct cannot be made", e);
        }
    }

    private int number(String name) {
        if (strange()) {
            return random.nextBoolean()
                    ? random.nextInt()
                    : random.nextBoolean() ? Integer.MIN_VALUE : Integer.MAX_VALUE;
        }
        return switch (name) {
            case "dataChunks", "parityChunks" -> 1 + random.nextInt(4);
            case "blockOffset" -> random.nextInt(1000);
            case "mode" -> TYPES[random.nextInt(TYPES.length)] | random.nextInt(010000);
            case "partition", "to", "region", "origin", "participants" -> random.nextInt(3);
            case "length" -> 1 + random.nextInt(4 << 20);
            case "flags" -> random.nextInt(4);
            case "uid", "gid", "groups" -> random.nextInt(3) * 500;
            default -> INTS[random.nextInt(INTS.length)];
        };
    }

    private long longNumber(String name) {
        if (strange()) {
            return switch (random.nextInt(4)) {
                case 0 -> random.nextLong();
                case 1 -> Long.MAX_VALUE - random.nextInt(3);
                case 2 -> Long.MIN_VALUE + random.nextInt(3);
                default -> LONGS[random.nextInt(LONGS.length)];
            };
        }
        return switch (name) {
            case "parent", "newParent" -> late(directories);
            case "ino",
                    "source",
                    "inodes",
                    "openInodes",
                    "tree",
                    "unfenced",
                    "expectedSource",
                    "expectedTarget" ->
                    late(inodes);
            case "size", "offset", "length", "first", "last", "sourceOffset" ->
                    random.nextInt(100_000);
            case "version" -> random.nextInt(6);
            case "globalSeen" -> 0;
            default -> random.nextInt(4);
        };
    }

    /** One of the last more often than others. */
    private long late(List<Long> from) {
        int back = random.nextInt(random.nextBoolean() ? from.size() : Math.min(8, from.size()));
        return from.get(from.size() - 1 - back);
    }

    private byte[] bytes(String name) {
        if (name.equals("name") || name.equals("newName")) {
            String chosen =
                    strange() || random.nextInt(8) == 0
                            ? NAMES[random.nextInt(NAMES.length)]
                            : "n" + random.nextInt(5);
            return chosen.getBytes(UTF_8);
        }
        byte[] made = new byte[random.nextInt(strange() ? 70_000 : 60)];
        random.nextBytes(made);
        if (made.length >= 4 && random.nextBoolean()) {
            // As an access control list begins.
            made = java.util.Arrays.copyOf(made, 4 + (made.length - 4) / 8 * 8);
            made[0] = 2;
            made[1] = made[2] = made[3] = 0;
            for (int at = 4; at < made.length; at += 8) {
                made[at] = (byte) (1 << random.nextInt(6));
                made[at + 1] = 0;
                made[at + 2] &= 7;
                made[at + 3] = 0;
            }
        }
        return made;
    }

    private String text() {
        return random.nextBoolean() ? "" : "t" + random.nextInt(3);
    }
}

package org.globalfs.replica.state.model;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Keys of the tables: big-endian, so that bytewise order is numeric order of non-negative numbers.
 */
public final class Keys {

    private static final VarHandle LONG =
            MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);

    private Keys() {}

    /** Key of the ring's membership in {@link Table#SYSTEM}, once it has changed. */
    public static byte[] membership() {
        return new byte[] {'m', 'e', 'm', 'b', 'e', 'r', 's'};
    }

    /** Key of the counters in {@link Table#SYSTEM}. */
    public static byte[] system() {
        return new byte[] {'s', 't', 'a', 't', 'e'};
    }

    /** The prefix of every key. */
    public static byte[] none() {
        return new byte[0];
    }

    /** The least key above all that begin with a prefix; null: there is none. */
    public static byte @Nullable [] after(byte[] prefix) {
        int last = prefix.length - 1;
        while (last >= 0 && prefix[last] == -1) {
            last--;
        }
        if (last < 0) {
            return null;
        }
        byte[] after = Arrays.copyOf(prefix, last + 1);
        after[last]++;
        return after;
    }

    public static byte[] of(long number) {
        byte[] key = new byte[8];
        LONG.set(key, 0, number);
        return key;
    }

    public static byte[] of(long first, long second) {
        byte[] key = new byte[16];
        LONG.set(key, 0, first);
        LONG.set(key, 8, second);
        return key;
    }

    public static byte[] of(long first, long second, long third) {
        byte[] key = new byte[24];
        LONG.set(key, 0, first);
        LONG.set(key, 8, second);
        LONG.set(key, 16, third);
        return key;
    }

    public static byte[] of(long parent, byte[] name) {
        byte[] key = new byte[8 + name.length];
        LONG.set(key, 0, parent);
        System.arraycopy(name, 0, key, 8, name.length);
        return key;
    }

    public static byte[] tail(byte[] key) {
        return Arrays.copyOfRange(key, 8, key.length);
    }

    public static long getLong(byte[] bytes, int at) {
        return (long) LONG.get(bytes, at);
    }

    static void putLong(byte[] bytes, int at, long value) {
        LONG.set(bytes, at, value);
    }

    public static boolean startsWith(byte[] key, byte[] prefix) {
        return key.length >= prefix.length
                && Arrays.equals(key, 0, prefix.length, prefix, 0, prefix.length);
    }
}

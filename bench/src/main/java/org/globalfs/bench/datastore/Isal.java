package org.globalfs.bench.datastore;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import org.globalfs.bench.BenchFailure;
import org.jspecify.annotations.Nullable;

/** ISA-L's encoder ({@code ec_encode_data}), called from this process. */
@SuppressWarnings("restricted") // --enable-native-access is given at start
final class Isal {
    private static final FunctionDescriptor MATRIX =
            FunctionDescriptor.ofVoid(
                    ValueLayout.ADDRESS, ValueLayout.JAVA_INT, ValueLayout.JAVA_INT);
    private static final FunctionDescriptor TABLES =
            FunctionDescriptor.ofVoid(
                    ValueLayout.JAVA_INT,
                    ValueLayout.JAVA_INT,
                    ValueLayout.ADDRESS,
                    ValueLayout.ADDRESS);
    private static final FunctionDescriptor ENCODE =
            FunctionDescriptor.ofVoid(
                    ValueLayout.JAVA_INT,
                    ValueLayout.JAVA_INT,
                    ValueLayout.JAVA_INT,
                    ValueLayout.ADDRESS,
                    ValueLayout.ADDRESS,
                    ValueLayout.ADDRESS);
    private static final int TABLE_BYTES = 32;

    private final MethodHandle matrix;
    private final MethodHandle tables;
    private final MethodHandle encode;

    private Isal(SymbolLookup library) {
        Linker linker = Linker.nativeLinker();
        matrix = linker.downcallHandle(library.findOrThrow("gf_gen_cauchy1_matrix"), MATRIX);
        tables = linker.downcallHandle(library.findOrThrow("ec_init_tables"), TABLES);
        encode = linker.downcallHandle(library.findOrThrow("ec_encode_data"), ENCODE);
    }

    /** Null: there is no such library, or none is named. */
    static @Nullable Isal load(String library) {
        if (library.isEmpty()) {
            return null; // the linker would take this program for it
        }
        try {
            return new Isal(SymbolLookup.libraryLookup(library, Arena.global()));
        } catch (IllegalArgumentException e) {
            return null;
        }
    }

    /** What is needed to encode blocks of one code, each in a buffer of all its chunks. */
    final class Code {
        private final int k;
        private final int m;
        private final int chunkBytes;
        private final MemorySegment expanded;

        Code(Arena arena, int k, int m, int chunkBytes) {
            this.k = k;
            this.m = m;
            this.chunkBytes = chunkBytes;
            MemorySegment rows = arena.allocate((long) (k + m) * k);
            expanded = arena.allocate((long) TABLE_BYTES * k * m);
            try {
                matrix.invokeExact(rows, k + m, k);
                tables.invokeExact(k, m, rows.asSlice((long) k * k), expanded);
            } catch (Throwable e) {
                throw new BenchFailure("ISA-L cannot be called", e);
            }
        }

        /** The addresses of a buffer's chunks. */
        Block block(Arena arena, MemorySegment buffer) {
            MemorySegment data = arena.allocate(ValueLayout.ADDRESS, k);
            MemorySegment parity = arena.allocate(ValueLayout.ADDRESS, m);
            for (int i = 0; i < k + m; i++) {
                MemorySegment chunk = buffer.asSlice((long) i * chunkBytes, chunkBytes);
                (i < k ? data : parity).setAtIndex(ValueLayout.ADDRESS, i < k ? i : i - k, chunk);
            }
            return new Block(data, parity);
        }

        void encode(Block block) {
            try {
                encode.invokeExact(chunkBytes, k, m, expanded, block.data, block.parity);
            } catch (Throwable e) {
                throw new BenchFailure("ISA-L cannot be called", e);
            }
        }
    }

    record Block(MemorySegment data, MemorySegment parity) {}
}

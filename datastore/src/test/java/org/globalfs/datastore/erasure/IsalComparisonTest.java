package org.globalfs.datastore.erasure;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.Random;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;

/** Our chunks against those of ISA-L (Debian's libisal2), where it is installed. */
@SuppressWarnings("restricted")
class IsalComparisonTest {
    private static final String LIBRARY = "libisal.so.2";

    @Test
    void chunksEqualThoseOfIsal() throws Throwable {
        try (Arena arena = Arena.ofConfined()) {
            SymbolLookup library = load(arena);
            for (int[] shape : new int[][] {{4, 2}, {9, 3}, {10, 4}}) {
                compare(library, arena, shape[0], shape[1], 4096);
            }
        }
    }

    private static SymbolLookup load(Arena arena) {
        try {
            return SymbolLookup.libraryLookup(LIBRARY, arena);
        } catch (IllegalArgumentException e) {
            Assumptions.abort("SKIPPED: no " + LIBRARY + ": apt-get install libisal2");
            throw e;
        }
    }

    private static void compare(SymbolLookup library, Arena arena, int k, int m, int length)
            throws Throwable {
        Linker linker = Linker.nativeLinker();
        MethodHandle generate =
                linker.downcallHandle(
                        library.findOrThrow("gf_gen_cauchy1_matrix"),
                        FunctionDescriptor.ofVoid(
                                ValueLayout.ADDRESS, ValueLayout.JAVA_INT, ValueLayout.JAVA_INT));
        MethodHandle tables =
                linker.downcallHandle(
                        library.findOrThrow("ec_init_tables"),
                        FunctionDescriptor.ofVoid(
                                ValueLayout.JAVA_INT,
                                ValueLayout.JAVA_INT,
                                ValueLayout.ADDRESS,
                                ValueLayout.ADDRESS));
        MethodHandle encode =
                linker.downcallHandle(
                        library.findOrThrow("ec_encode_data"),
                        FunctionDescriptor.ofVoid(
                                ValueLayout.JAVA_INT,
                                ValueLayout.JAVA_INT,
                                ValueLayout.JAVA_INT,
                                ValueLayout.ADDRESS,
                                ValueLayout.ADDRESS,
                                ValueLayout.ADDRESS));
        MemorySegment matrix = arena.allocate((long) (k + m) * k);
        generate.invokeExact(matrix, k + m, k);
        byte[][] ours = CodeMatrix.cauchy(k, m);
        for (int i = 0; i < k + m; i++) {
            byte[] row = matrix.asSlice((long) i * k, k).toArray(ValueLayout.JAVA_BYTE);
            assertThat(ours[i]).as("row %d of RS(%d,%d)", i, k, m).isEqualTo(row);
        }

        byte[] chunks = new byte[(k + m) * length];
        new Random(k * 31L + m).nextBytes(chunks);
        MemorySegment expanded = arena.allocate(32L * k * m);
        tables.invokeExact(k, m, matrix.asSlice((long) k * k), expanded);
        MemorySegment data = arena.allocate(ValueLayout.ADDRESS, k);
        MemorySegment parity = arena.allocate(ValueLayout.ADDRESS, m);
        MemorySegment buffer = arena.allocate((long) (k + m) * length, 64);
        MemorySegment.copy(chunks, 0, buffer, ValueLayout.JAVA_BYTE, 0, k * length);
        for (int i = 0; i < k + m; i++) {
            MemorySegment chunk = buffer.asSlice((long) i * length, length);
            (i < k ? data : parity).setAtIndex(ValueLayout.ADDRESS, i < k ? i : i - k, chunk);
        }
        encode.invokeExact(length, k, m, expanded, data, parity);

        ReedSolomon.of(k, m).encode(chunks, length);
        assertThat(buffer.toArray(ValueLayout.JAVA_BYTE)).isEqualTo(chunks);
    }
}

package org.globalfs.client.fuse;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.lang.reflect.Field;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Compares every offset and flag with the kernel's header, by a C program that prints them. */
class FuseLayoutTest {
    private static final Path HEADER = Path.of("/usr/include/linux/fuse.h");
    private static final List<String> SINCE_7_39 =
            List.of("StatxIn", "StatxOut", "SxTime", "Statx");

    @TempDir Path folder;

    @Test
    void agreesWithTheHeader() throws Exception {
        assumeTrue(
                Files.exists(HEADER),
                "SKIPPED: " + HEADER + " is missing (apt-get install linux-libc-dev)");
        assumeTrue(runs("gcc", "--version"), "SKIPPED: no gcc: apt-get install gcc");
        int headerMinor = headerMinor();
        TreeMap<String, Long> expected = new TreeMap<>();
        StringBuilder program =
                new StringBuilder(
                        "#include <stdio.h>\n#include <stddef.h>\n#include <stdint.h>\n#include <sys/ioctl.h>\n#include <linux/fuse.h>\nint main(void) {\n");
        for (Class<?> type : FuseLayout.class.getDeclaredClasses()) {
            if (headerMinor < 39 && SINCE_7_39.contains(type.getSimpleName())) {
                continue;
            }
            String struct =
                    "struct fuse_"
                            + type.getSimpleName()
                                    .replaceAll("(?<=.)([A-Z])", "_$1")
                                    .toLowerCase(Locale.ROOT);
            for (Field field : type.getDeclaredFields()) {
                if (field.isSynthetic()) {
                    continue;
                }
                String name = type.getSimpleName() + "." + field.getName();
                expected.put(name, (long) field.getInt(null));
                String expression =
                        field.getName().equals("SIZE_OF")
                                ? "sizeof(" + struct + ")"
                                : "offsetof("
                                        + struct
                                        + ", "
                                        + field.getName().toLowerCase(Locale.ROOT)
                                        + ")";
                print(program, name, expression);
            }
        }
        addFlags(program, expected, headerMinor);
        addOpcodes(program, expected, headerMinor);
        program.append("return 0; }\n");
        assertThat(run(program.toString())).isEqualTo(expected);
    }

    private static void addFlags(StringBuilder program, Map<String, Long> expected, int headerMinor)
            throws IllegalAccessException {
        for (Field field : FuseFlags.class.getDeclaredFields()) {
            String name = field.getName();
            boolean ours =
                    name.endsWith("MINOR")
                            || name.equals("MAJOR")
                            || name.startsWith("STATX")
                            || name.equals("INT_REQ_BIT");
            boolean newer =
                    headerMinor < 39 && name.equals("DIRECT_IO_ALLOW_MMAP")
                            || headerMinor < 44 && name.equals("NOTIFY_INC_EPOCH");
            if (field.isSynthetic() || ours || newer) {
                continue;
            }
            boolean bare = name.startsWith("FATTR_") || name.startsWith("FOPEN_");
            expected.put("flag." + name, field.getLong(null) & 0xffffffffffffL);
            print(program, "flag." + name, (bare ? "" : "FUSE_") + name);
        }
    }

    private static void addOpcodes(
            StringBuilder program, Map<String, Long> expected, int headerMinor) {
        for (Opcode opcode : Opcode.values()) {
            boolean newer =
                    (headerMinor < 39 && opcode == Opcode.STATX)
                            || (headerMinor < 45 && opcode == Opcode.COPY_FILE_RANGE_64);
            if (!newer) {
                expected.put("opcode." + opcode, (long) opcode.number);
                print(program, "opcode." + opcode, "FUSE_" + opcode);
            }
        }
    }

    private static void print(StringBuilder program, String name, String expression) {
        program.append("printf(\"")
                .append(name)
                .append(" %llu\\n\", (unsigned long long)(unsigned long)(")
                .append(expression)
                .append("));\n");
    }

    private Map<String, Long> run(String program) throws Exception {
        Path source = Files.writeString(folder.resolve("layout.c"), program);
        Path binary = folder.resolve("layout");
        Process compiler =
                new ProcessBuilder("gcc", "-w", "-o", binary.toString(), source.toString())
                        .redirectErrorStream(true)
                        .start();
        String errors =
                new String(compiler.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(compiler.waitFor()).as(errors).isZero();
        Process printer = new ProcessBuilder(binary.toString()).start();
        TreeMap<String, Long> found = new TreeMap<>();
        for (String line :
                new String(printer.getInputStream().readAllBytes(), StandardCharsets.UTF_8)
                        .split("\n", -1)) {
            if (!line.isEmpty()) {
                String[] parts = line.split(" ", -1);
                long value = Long.parseUnsignedLong(parts[1]);
                // 1 << 31 is negative in C
                found.put(parts[0], value & 0xffffffffffffL);
            }
        }
        return found;
    }

    private static int headerMinor() throws Exception {
        for (String line : Files.readAllLines(HEADER)) {
            if (line.startsWith("#define FUSE_KERNEL_MINOR_VERSION")) {
                return Integer.parseInt(line.replaceAll(".*\\s", ""));
            }
        }
        return 0;
    }

    private static boolean runs(String... command) throws Exception {
        try {
            Process process =
                    new ProcessBuilder(new ArrayList<>(List.of(command)))
                            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                            .redirectErrorStream(true)
                            .start();
            return process.waitFor(20, TimeUnit.SECONDS) && process.exitValue() == 0;
        } catch (IOException absent) {
            return false;
        }
    }
}

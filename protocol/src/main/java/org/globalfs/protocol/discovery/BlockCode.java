package org.globalfs.protocol.discovery;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * How a block is coded: into k data and m parity chunks, any k of which give it back. With k = 1
 * that is m + 1 copies.
 */
public record BlockCode(int dataChunks, int parityChunks) {
    public static final int MAX_DATA_CHUNKS = 32;
    public static final int MAX_PARITY_CHUNKS = 8;

    private static final Pattern TEXT = Pattern.compile("(\\d{1,2})\\+(\\d{1,2})");

    public BlockCode {
        if (dataChunks < 1
                || dataChunks > MAX_DATA_CHUNKS
                || parityChunks < 1
                || parityChunks > MAX_PARITY_CHUNKS) {
            throw new IllegalArgumentException(
                    String.format(
                            "code %d+%d: needs 1 to %d data and 1 to %d parity chunks",
                            dataChunks, parityChunks, MAX_DATA_CHUNKS, MAX_PARITY_CHUNKS));
        }
    }

    /** Reads "4+2". */
    public static BlockCode parse(String text) {
        Matcher matcher = TEXT.matcher(text);
        if (!matcher.matches()) {
            throw new IllegalArgumentException(
                    "code '" + text + "': write data chunks + parity chunks, as in 4+2");
        }
        return new BlockCode(
                Integer.parseInt(matcher.group(1)), Integer.parseInt(matcher.group(2)));
    }

    /** The code that survives as many losses with fewer data chunks. */
    public BlockCode withDataChunks(int fewer) {
        return new BlockCode(fewer, parityChunks);
    }

    public int chunks() {
        return dataChunks + parityChunks;
    }

    @Override
    public String toString() {
        return dataChunks + "+" + parityChunks;
    }
}

package org.globalfs.replica.state;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.globalfs.protocol.posix.PosixAcl;

/**
 * Access control lists as setfacl(1) writes them, ids as numbers: {@code u::rwx,u:5:r,m::rx};
 * {@code u:1-9:r} stands for nine users.
 */
final class AclText {

    private static final String LETTERS = "rwx";

    private AclText() {}

    /** {@code hex:…} stands for itself. */
    static byte[] parse(String text) {
        if (text.startsWith("hex:")) {
            return HexFormat.of().parseHex(text.substring(4));
        }
        String[] entries = text.equals("none") ? new String[0] : each(text).split(",");
        ByteBuffer out = ByteBuffer.allocate(4 + 8 * entries.length).order(ByteOrder.LITTLE_ENDIAN);
        out.putInt(2);
        for (String entry : entries) {
            String[] parts = entry.split(":", -1);
            boolean named = !parts[1].isEmpty();
            int tag =
                    switch (parts[0]) {
                        case "u" -> named ? PosixAcl.USER : PosixAcl.USER_OBJ;
                        case "g" -> named ? PosixAcl.GROUP : PosixAcl.GROUP_OBJ;
                        case "m" -> PosixAcl.MASK;
                        default -> PosixAcl.OTHER;
                    };
            int permissions = 0;
            for (char letter : parts[2].toCharArray()) {
                permissions |= letter == '-' ? 0 : 4 >> LETTERS.indexOf(letter);
            }
            out.putShort((short) tag).putShort((short) permissions);
            out.putInt(named ? Integer.parseInt(parts[1]) : -1);
        }
        return out.array();
    }

    private static String each(String text) {
        return Pattern.compile("u:(\\d+)-(\\d+):(\\w+)")
                .matcher(text)
                .replaceAll(users ->
                        IntStream.rangeClosed(
                                        Integer.parseInt(users.group(1)),
                                        Integer.parseInt(users.group(2)))
                                .mapToObj(id -> "u:" + id + ":" + users.group(3))
                                .collect(Collectors.joining(",")));
    }

    static String format(byte[] acl) {
        ByteBuffer in = ByteBuffer.wrap(acl).order(ByteOrder.LITTLE_ENDIAN).position(4);
        List<String> entries = new ArrayList<>();
        while (in.hasRemaining()) {
            int tag = in.getShort();
            int permissions = in.getShort();
            int id = in.getInt();
            String kind =
                    switch (tag) {
                        case PosixAcl.USER, PosixAcl.USER_OBJ -> "u";
                        case PosixAcl.GROUP, PosixAcl.GROUP_OBJ -> "g";
                        case PosixAcl.MASK -> "m";
                        default -> "o";
                    };
            StringBuilder letters = new StringBuilder();
            for (int i = 0; i < 3; i++) {
                letters.append((permissions & 4 >> i) != 0 ? LETTERS.charAt(i) : '-');
            }
            entries.add(kind + ":" + (id == -1 ? "" : id) + ":" + letters);
        }
        return String.join(",", entries);
    }
}

package org.globalfs.datastore.wire;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/** Lists of short texts for people, in a reply. */
final class Texts {
    private static final int MOST_BYTES = 250;

    private Texts() {}

    /** Room that they take, at most. */
    static int room(List<String> texts) {
        return Short.BYTES + 256 * texts.size();
    }

    static void write(ByteBuffer to, List<String> texts) {
        to.putShort((short) texts.size());
        texts.forEach(text -> Frame.writeString(to, cut(text)));
    }

    /** A character that is cut in two becomes a sign of that, hence fewer bytes than fit. */
    private static String cut(String text) {
        byte[] bytes = text.getBytes(UTF_8);
        return bytes.length <= MOST_BYTES ? text : new String(bytes, 0, MOST_BYTES, UTF_8);
    }

    static List<String> read(ByteBuffer from) {
        int count = from.getShort() & 0xffff;
        List<String> texts = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            texts.add(Frame.readString(from));
        }
        return texts;
    }
}

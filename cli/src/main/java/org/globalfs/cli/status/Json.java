package org.globalfs.cli.status;

import java.util.List;
import java.util.Map;

/** Writes maps, lists, strings, numbers and booleans as JSON, two blanks a level. */
final class Json {
    private final StringBuilder out = new StringBuilder();

    private Json() {}

    static String write(Object value) {
        Json json = new Json();
        json.value(value, 0);
        return json.out.append('\n').toString();
    }

    private void value(Object value, int depth) {
        switch (value) {
            case Map<?, ?> map -> {
                String separator = "";
                out.append('{');
                for (Map.Entry<?, ?> entry : map.entrySet()) {
                    out.append(separator);
                    line(depth + 1);
                    string(String.valueOf(entry.getKey()));
                    out.append(": ");
                    value(entry.getValue(), depth + 1);
                    separator = ",";
                }
                if (!map.isEmpty()) {
                    line(depth);
                }
                out.append('}');
            }
            case List<?> list -> {
                String separator = "";
                out.append('[');
                for (Object item : list) {
                    out.append(separator);
                    line(depth + 1);
                    value(item, depth + 1);
                    separator = ",";
                }
                if (!list.isEmpty()) {
                    line(depth);
                }
                out.append(']');
            }
            case Number number -> out.append(number);
            case Boolean flag -> out.append(flag);
            default -> string(value.toString());
        }
    }

    private void line(int depth) {
        out.append('\n').append("  ".repeat(depth));
    }

    private void string(String text) {
        out.append('"');
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '"' || c == '\\') {
                out.append('\\').append(c);
            } else if (c < ' ' || c == 0x7f) {
                out.append(String.format("\\u%04x", (int) c));
            } else {
                out.append(c);
            }
        }
        out.append('"');
    }
}

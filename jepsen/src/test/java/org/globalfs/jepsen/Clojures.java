package org.globalfs.jepsen;

import clojure.java.api.Clojure;
import clojure.lang.IFn;
import clojure.lang.Keyword;
import clojure.lang.LispReader;
import clojure.lang.PersistentHashMap;
import clojure.lang.RT;
import clojure.lang.Var;
import java.io.IOException;
import java.io.PushbackReader;
import java.io.StringReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Clojure's own reader and runtime. */
final class Clojures {
    private static final Object END = new Object();

    private Clojures() {}

    /** All forms of a file, as Clojure reads them, nothing evaluated. */
    static List<Object> forms(Path file) throws IOException {
        List<Object> forms = new ArrayList<>();
        Var.pushThreadBindings(PersistentHashMap.create(RT.READEVAL, false));
        try (PushbackReader in = new PushbackReader(new StringReader(Files.readString(file)), 2)) {
            while (true) {
                Object form = LispReader.read(in, false, END, false, PersistentHashMap.EMPTY);
                if (END.equals(form)) {
                    return forms;
                }
                forms.add(form);
            }
        } finally {
            Var.popThreadBindings();
        }
    }

    /** A function of a namespace, which is loaded. */
    static IFn function(String namespace, String name) {
        Clojure.var("clojure.core", "require").invoke(Clojure.read(namespace));
        return Clojure.var(namespace, name);
    }

    static Keyword keyword(String name) {
        return Keyword.intern(name);
    }
}

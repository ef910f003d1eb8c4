package org.globalfs.bench.multicast;

import java.util.HashMap;
import java.util.Map;
import org.globalfs.bench.BenchFailure;

/** Figures that a member answered with, "name=number" each. */
record Sample(Map<String, Long> figures) {
    Sample {
        figures = Map.copyOf(figures);
    }

    static Sample parse(String answer) {
        Map<String, Long> figures = new HashMap<>();
        for (String word : answer.split(" ")) {
            int equals = word.indexOf('=');
            figures.put(word.substring(0, equals), Long.parseLong(word.substring(equals + 1)));
        }
        return new Sample(figures);
    }

    long get(String name) {
        Long figure = figures.get(name);
        if (figure == null) {
            throw new BenchFailure("no figure " + name + " in " + figures);
        }
        return figure;
    }

    long since(Sample earlier, String name) {
        return get(name) - earlier.get(name);
    }
}

package org.globalfs.bench.multicast;

import java.util.ArrayList;
import java.util.List;
import org.globalfs.bench.multicast.LoadMeasurement.Shows;
import org.globalfs.protocol.Dissemination;

/** Steady loads on a ring whose coordinator sends to all, and on one that passes values round. */
final class DisseminationMeasurement implements Session.Measurement {
    static final String NAME = "dissemination";
    static final Contender STAR = Contender.spreading(Dissemination.STAR);
    static final Contender RING = Contender.spreading(Dissemination.RING);
    static final String HEAD = Row.head("star", "ring", "star is better");
    static final int OUTSTANDING = 64;
    static final int SMALL_BYTES = 200;
    static final int LARGE_BYTES = 32 << 10;

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public String head() {
        return HEAD;
    }

    @Override
    public List<Row> run(Session session) {
        if (session.smoke()) {
            return load(false, LARGE_BYTES, "32 KiB").run(session);
        }
        List<Row> rows = new ArrayList<>();
        for (boolean durable : new boolean[] {true, false}) {
            rows.addAll(load(durable, SMALL_BYTES, "200 B").run(session));
            rows.addAll(load(durable, LARGE_BYTES, "32 KiB").run(session));
        }
        return rows;
    }

    private static LoadMeasurement load(boolean durable, int sizeBytes, String size) {
        String title =
                "%s, %d outstanding × %s"
                        .formatted(durable ? "durable" : "memory", OUTSTANDING, size);
        return new LoadMeasurement(
                NAME, title, durable, OUTSTANDING, sizeBytes, Shows.SPREAD, STAR, RING);
    }
}

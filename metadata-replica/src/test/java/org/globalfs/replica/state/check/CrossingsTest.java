package org.globalfs.replica.state.check;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.globalfs.replica.state.check.CheckReport.Crossing;
import org.globalfs.replica.state.model.Partitions;
import org.junit.jupiter.api.Test;

/** Directories over partitions, as fsck compares them. */
final class CrossingsTest {

    private static final long ROOT = Partitions.ROOT;
    private static final long A = Partitions.ino(1, 2);
    private static final long B = Partitions.ino(2, 2);
    private static final Crossing A_HANGS = new Crossing(A, ROOT, 0);
    private static final Crossing A_HELD = new Crossing(A, ROOT, ROOT);

    @Test
    void agreeWhenEachHasOneNameAndLeadsToTheRoot() {
        Crossing hangs = new Crossing(B, A + 7, 0);
        Crossing held = new Crossing(B, A + 7, A);
        assertThat(Crossings.faults(List.of(A_HANGS, hangs), List.of(A_HELD, held))).isEmpty();
    }

    @Test
    void tellOfNamesTooManyTooFewAndElsewhere() {
        assertThat(Crossings.faults(List.of(A_HANGS), List.of()))
                .containsExactly("directory 1000000000002 has no name in 1");
        assertThat(Crossings.faults(List.of(A_HANGS), List.of(A_HELD, A_HELD)))
                .containsExactly("directory 1000000000002 has more than one name in 1");
        assertThat(Crossings.faults(List.of(A_HANGS), List.of(A_HELD, new Crossing(A, B, B))))
                .containsExactly(
                        "directory 1000000000002 has a name in 2000000000002, but does not lie there");
        assertThat(Crossings.faults(List.of(), List.of(A_HELD))).hasSize(1);
    }

    @Test
    void tellOfCircles() {
        List<Crossing> hanging = List.of(new Crossing(A, B, 0), new Crossing(B, A, 0));
        List<Crossing> held = List.of(new Crossing(A, B, B), new Crossing(B, A, A));
        assertThat(Crossings.faults(hanging, held))
                .hasSize(2)
                .allMatch(fault -> fault.contains("lies below itself"));
    }
}

package org.globalfs.replica.grants;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class UnsettledTest {

    private static final long A = 1;
    private static final long B = 2;
    private static final long DIRECTORY = 10;
    private static final long FILE = 11;

    private final Unsettled unsettled = new Unsettled();

    private Update ended(long session, long sequence, long clock, Long... inodes) {
        Update update = new Update(session, sequence, List.of());
        update.inodes.addAll(List.of(inodes));
        update.stale.addAll(update.inodes);
        update.end(clock);
        unsettled.add(update);
        return update;
    }

    private List<Update> of(long ino, long exceptSession) {
        List<Update> found = new ArrayList<>();
        unsettled.forEach(ino, exceptSession, found::add);
        return found;
    }

    @Test
    void anInodesAreFoundBySessionAndByWhenTheyEnded() {
        Update first = ended(A, 1, 5, DIRECTORY, FILE);
        Update second = ended(A, 2, 7, DIRECTORY);
        Update others = ended(B, 1, 6, DIRECTORY);
        assertThat(of(DIRECTORY, 0)).containsExactlyInAnyOrder(first, second, others);
        assertThat(of(DIRECTORY, A)).containsExactly(others);
        assertThat(unsettled.after(DIRECTORY, A, 4)).containsExactly(first, second);
        assertThat(unsettled.after(DIRECTORY, A, 5)).containsExactly(second);
        assertThat(unsettled.after(FILE, A, 5)).isEmpty();
        assertThat(unsettled.after(FILE, B, 0)).isEmpty();
        assertThat(unsettled.count(A)).isEqualTo(2);
    }

    @Test
    void whatIsSettledIsFoundNoMore() {
        Update first = ended(A, 1, 5, DIRECTORY, FILE);
        Update second = ended(A, 2, 7, DIRECTORY);
        Update others = ended(B, 1, 6, DIRECTORY);
        unsettled.settled(A, 3, List.of(1L));
        assertThat(of(DIRECTORY, 0)).containsExactlyInAnyOrder(first, others);
        unsettled.settled(A, 2, List.of());
        assertThat(of(DIRECTORY, 0)).containsExactly(others);
        assertThat(of(FILE, 0)).isEmpty();
        assertThat(unsettled.count(A)).isZero();
        unsettled.forget(B);
        assertThat(of(DIRECTORY, 0)).isEmpty();
        assertThat(second.stale).containsExactly(DIRECTORY);
    }

    @Test
    void whoGivesAGrantBackBelievesNothingOldByIt() {
        Update own = ended(A, 1, 5, DIRECTORY, FILE);
        Update others = ended(B, 1, 6, DIRECTORY);
        unsettled.given(A, DIRECTORY);
        assertThat(own.stale).containsExactly(FILE);
        assertThat(others.stale).containsExactly(DIRECTORY);
    }
}

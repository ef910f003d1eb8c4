package org.globalfs.datastore.client;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.globalfs.datastore.erasure.ReedSolomon;
import org.globalfs.protocol.HostPort;
import org.globalfs.protocol.discovery.StorageSite;
import org.junit.jupiter.api.Test;

/** Which of a block's chunks a reader asks for, by how far away their homes are. */
class HomeDistancesTest {
    private static final int DATA_CHUNKS = 3;

    /** Homes of chunks 0, 1, …, so many milliseconds away. */
    private static HomeDistances away(long... ms) {
        List<StorageSite> homes = new ArrayList<>();
        for (long distance : ms) {
            HostPort address = new HostPort("127.0.0.1", 1);
            homes.add(new StorageSite(String.valueOf(distance), "west", 1, "a", address, 1));
        }
        return new HomeDistances(
                site -> TimeUnit.MILLISECONDS.toNanos(Long.parseLong(site.id())),
                homes,
                new long[homes.size()]);
    }

    /** In data chunks of 100 bytes. */
    private static RangePieces range(int from, int to) {
        return new RangePieces(DATA_CHUNKS, 100, from, to - from, new byte[to - from], 0);
    }

    private static long ms(long value) {
        return TimeUnit.MILLISECONDS.toNanos(value);
    }

    @Test
    void theNearestComeFirstAndDataBeforeParity() {
        assertThat(away(70, 0, 140, 0, 70).nearest()).containsExactly(1, 3, 0, 4, 2);
    }

    @Test
    void whatLiesFartherThanItsStandInsIsDecoded() {
        HomeDistances distances = away(0, 70, 140, 0, 70);
        assertThat(distances.reachNs(DATA_CHUNKS)).isEqualTo(ms(70));
        assertThat(distances.isFarther(range(0, 200), DATA_CHUNKS)).isFalse();
        assertThat(distances.isFarther(range(0, 201), DATA_CHUNKS)).isTrue();
    }

    @Test
    void aLittleFartherIsNotWorthDecoding() {
        assertThat(away(12, 10, 10, 10).isFarther(range(0, 100), DATA_CHUNKS)).isFalse();
        assertThat(away(13, 10, 10, 10).isFarther(range(0, 100), DATA_CHUNKS)).isTrue();
    }

    @Test
    void whatHasComeNeedsNobodyToBeAsked() {
        HomeDistances distances = away(0, 70, 140, 0, 70);
        Columns have = new Columns(ReedSolomon.of(DATA_CHUNKS, 2), 0, 1);
        have.keep(2, new byte[1], 0);
        assertThat(distances.reachNs(DATA_CHUNKS - have.count(), have)).isZero();
        have.keep(0, new byte[1], 0);
        have.keep(3, new byte[1], 0);
        assertThat(distances.reachNs(1, have)).isEqualTo(ms(70));
        assertThat(distances.reachNs(0, have)).isZero();
    }
}

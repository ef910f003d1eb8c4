package org.globalfs.client.cache;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class KernelPagesTest {

    private static final long INO = 77;

    private final KernelPages pages = new KernelPages();
    private final List<Boolean> stale = new ArrayList<>();
    private final List<Runnable> dropped = new ArrayList<>();

    private boolean opened(long version) {
        return pages.opened(
                INO,
                version,
                (old, done) -> {
                    stale.add(old);
                    dropped.add(done);
                });
    }

    @Test
    void pagesOfTheVersionThatIsOpenedAreKept() {
        assertThat(opened(1)).isFalse();
        dropped.getFirst().run();
        assertThat(opened(1)).isTrue();
        pages.changed(INO, 2, 1);
        assertThat(opened(2)).isTrue();
        assertThat(stale).as("the first open has none to drop").containsExactly(false);
    }

    /** They are dropped when a program that opened it runs again, and another may run before. */
    @Test
    void ofTwoOpensAtOnceTheSecondKeepsNoOldPages() {
        assertThat(opened(1)).isFalse();
        dropped.getFirst().run();
        assertThat(opened(2)).isFalse();
        assertThat(opened(2)).isFalse();
        assertThat(stale).as("they are dropped once").containsExactly(false, true);
        dropped.getLast().run();
        assertThat(opened(2)).isTrue();
    }

    @Test
    void whatIsDroppedForAnEarlierOpenIsNotForALaterOne() {
        assertThat(opened(1)).isFalse();
        assertThat(opened(2)).isFalse();
        dropped.getFirst().run();
        assertThat(opened(2)).isFalse();
        dropped.getLast().run();
        assertThat(opened(2)).isTrue();
    }

    @Test
    void aPageOfAnEarlierVersionReadMeanwhileSpoilsIt() {
        assertThat(opened(2)).isFalse();
        pages.read(INO, 1);
        dropped.getFirst().run();
        assertThat(opened(2)).isFalse();
    }
}

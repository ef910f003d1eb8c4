package org.globalfs.client.io;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.Test;

class UploadQueueTest {

    private final List<Runnable> begun = new ArrayList<>();
    private final List<Integer> done = new ArrayList<>();
    private boolean refuses;
    private final UploadQueue queue =
            new UploadQueue(
                    task -> {
                        if (refuses) {
                            throw new RejectedExecutionException("no thread");
                        }
                        begun.add(task);
                    },
                    2);

    @Test
    void soManyAtATimeAndInOrder() {
        for (int i = 0; i < 4; i++) {
            int number = i;
            queue.execute(() -> done.add(number));
        }
        assertThat(begun).hasSize(2);
        begun.get(1).run();
        assertThat(done).containsExactly(1, 2, 3);
        begun.get(0).run();
        assertThat(done).containsExactly(1, 2, 3, 0);
    }

    /** Else nothing would be stored any more once this has happened often enough. */
    @Test
    void whatCouldNotBeBegunTakesNoTurn() {
        refuses = true;
        for (int i = 0; i < 2; i++) {
            assertThatThrownBy(() -> queue.execute(() -> {}))
                    .isInstanceOf(RejectedExecutionException.class);
        }
        refuses = false;
        queue.execute(() -> done.add(1));
        begun.forEach(Runnable::run);
        assertThat(done).containsExactly(1);
    }

    @Test
    void whatFailsUnexpectedlyLeavesTheOthersTheirTurn() {
        queue.execute(() -> {
            throw new IllegalStateException("for the test");
        });
        for (int i = 1; i < 4; i++) {
            int number = i;
            queue.execute(() -> done.add(number));
        }
        begun.get(0).run();
        assertThat(done).containsExactly(2, 3);
        queue.execute(() -> done.add(4));
        assertThat(begun).as("its place is free again").hasSize(3);
    }
}

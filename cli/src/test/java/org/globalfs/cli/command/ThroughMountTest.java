package org.globalfs.cli.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import org.globalfs.cli.ExitCode;
import org.globalfs.cli.Failure;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Work through a mount goes on as long as the mount's process is there. */
@Timeout(60)
final class ThroughMountTest {
    private static final Duration PAUSE = Duration.ofMillis(1);

    private final CountDownLatch never = new CountDownLatch(1);

    @Test
    void endsWhenTheProcessAnswersNoMore() {
        assertThatThrownBy(() ->
                        run(() -> {
                            throw new IOException("stopped or stuck");
                        }))
                .isExactlyInstanceOf(IOException.class)
                .hasMessage("stopped or stuck");
        never.countDown();
    }

    @Test
    void goesOnWhileTheProcessAnswers() throws Exception {
        CountDownLatch asked = new CountDownLatch(3);
        String done =
                ThroughMount.run(
                        () -> {
                            asked.await();
                            return "done";
                        },
                        asked::countDown,
                        PAUSE,
                        PAUSE);
        assertThat(done).isEqualTo("done");
    }

    @Test
    void whatIsDoneAsTheMountEndsIsDone() throws Exception {
        CountDownLatch asked = new CountDownLatch(1);
        String done =
                ThroughMount.run(
                        () -> {
                            asked.await();
                            return "done";
                        },
                        () -> {
                            asked.countDown();
                            throw new IOException("it is gone");
                        },
                        PAUSE,
                        Duration.ofMinutes(1));
        assertThat(done).isEqualTo("done");
    }

    @Test
    void theWorksOwnErrorIsTold() {
        Failure own = new Failure(ExitCode.FAILED, "/mnt/tree/a: no such file");
        assertThatThrownBy(() ->
                        ThroughMount.run(
                                () -> {
                                    throw own;
                                },
                                () -> {},
                                PAUSE,
                                PAUSE))
                .isSameAs(own);
    }

    private void run(ThroughMount.Sign sign) throws Exception {
        ThroughMount.run(
                () -> {
                    never.await();
                    return "done";
                },
                sign,
                PAUSE,
                PAUSE);
    }
}

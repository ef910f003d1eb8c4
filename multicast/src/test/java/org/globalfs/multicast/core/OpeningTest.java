package org.globalfs.multicast.core;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.globalfs.multicast.Entry;
import org.junit.jupiter.api.Test;

/** What is decided survives a crash in the middle of taking part in a new ballot. */
class OpeningTest {
    private static final long NOW = 60_000_000_000L;
    private static final int COORDINATOR = 1;
    private static final Ballot FIRST = new Ballot(1, COORDINATOR);
    private static final Ballot SECOND = new Ballot(2, COORDINATOR);
    private static final Batch VALUE =
            Batch.of(new Entry.Command(1 << 20, new byte[] {1}, new int[0]));
    private static final Batch FREE = Batch.of(new Entry.Noop());

    private final List<LogRecord> log = new ArrayList<>();
    private final RingCore core =
            RingCore.recover(
                    RingConfig.defaults(0, 3, new int[] {1, 2, 3}, 1),
                    PersistedState.FRESH,
                    null,
                    0);

    private List<LogRecord> told(Message... messages) {
        Effects effects = new Effects();
        for (Message message : messages) {
            core.onMessage(COORDINATOR, message, NOW, effects);
        }
        core.flush(NOW, 1, effects);
        List<LogRecord> records = List.copyOf(effects.persist());
        core.onPersisted(effects.position(), NOW, new Effects());
        return records;
    }

    @Test
    void aCrashVoidsNoVoteForWhatIsDecided() {
        log.addAll(told(new Message.Prepare(FIRST, 0)));
        log.addAll(told(new Message.Open(FIRST, 1, List.of(VALUE), List.of())));
        log.addAll(told(new Message.Prepare(SECOND, 0)));

        List<LogRecord> opening =
                told(
                        new Message.Voted(FIRST, 1, 0),
                        new Message.Open(SECOND, 1, List.of(VALUE, FREE), List.of()));

        assertThat(core.decided()).isOne();
        assertThat(opening).anyMatch(LogRecord.Opened.class::isInstance);
        for (int kept = 0; kept <= opening.size(); kept++) {
            PersistedState.Replay replay = new PersistedState.Replay();
            log.forEach(replay::add);
            opening.subList(0, kept).forEach(replay::add);
            PersistedState left = replay.state();
            boolean voted =
                    left.accepted().stream()
                            .anyMatch(
                                    value -> value.instance() == 1 && value.batch().equals(VALUE));
            assertThat(voted || left.decided() >= 1)
                    .as("after %s of %s: %s", kept, opening, left)
                    .isTrue();
        }
    }

    /**
     * The newest record of an instance is what the log gives to others and to this member later.
     */
    @Test
    void whatIsDecidedIsLoggedAfterAVoteThatACrashVoided() {
        List<LogRecord> before =
                List.of(
                        new LogRecord.Accepted(1, FIRST, VALUE),
                        new LogRecord.Opened(FIRST, 1),
                        // Of an opening that a crash cut off.
                        new LogRecord.Accepted(1, SECOND, FREE));
        PersistedState.Replay replay = new PersistedState.Replay();
        before.forEach(replay::add);
        RingCore restarted =
                RingCore.recover(
                        RingConfig.defaults(0, 3, new int[] {1, 2, 3}, 1), replay.state(), null, 0);
        Effects effects = new Effects();
        restarted.onMessage(
                COORDINATOR, new Message.CatchUpReply(1, List.of(VALUE), 1), NOW, effects);
        restarted.flush(NOW, 1, effects);

        assertThat(restarted.decided()).isOne();
        List<LogRecord> after = new ArrayList<>(before);
        after.addAll(effects.persist());
        assertThat(newest(after, 1)).isEqualTo(VALUE);
    }

    private static Batch newest(List<LogRecord> records, long instance) {
        Batch newest = FREE;
        for (LogRecord record : records) {
            switch (record) {
                case LogRecord.Accepted a when a.instance() == instance -> newest = a.batch();
                case LogRecord.Chosen c when c.instance() == instance -> newest = c.batch();
                default -> {}
            }
        }
        return newest;
    }
}

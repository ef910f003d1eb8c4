package org.globalfs.replica.service;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.LongStream;
import org.globalfs.protocol.wire.CheckReply;
import org.globalfs.protocol.wire.CheckRequest;
import org.globalfs.protocol.wire.Crossing;
import org.globalfs.protocol.wire.Links;
import org.globalfs.protocol.wire.Position;
import org.junit.jupiter.api.Test;

class CheckAnswersTest {

    private final AtomicLong nowNs = new AtomicLong();
    private final CheckAnswers answers = new CheckAnswers(4, nowNs::get);

    private static List<Links> links(long first, long count) {
        return LongStream.range(first, first + count).mapToObj(ino -> new Links(ino, 1)).toList();
    }

    private static List<Crossing> crossings(long first, long count) {
        return LongStream.range(first, first + count)
                .mapToObj(ino -> new Crossing(ino, 1))
                .toList();
    }

    private static CheckReply answer(int foreign, int unexplained, int hanging, int held) {
        Position position = new Position(1, 7);
        return new CheckReply(
                        position,
                        5,
                        6,
                        7,
                        8,
                        1,
                        List.of("wrong"),
                        links(100, foreign),
                        links(200, unexplained))
                .setHanging(crossings(300, hanging))
                .setHeld(crossings(400, held));
    }

    private CheckReply rest(CheckReply before) {
        CheckRequest request = new CheckRequest(1).setPaged(true);
        return answers.rest(request.setId(before.getId()).setOffset(before.getNextOffset()));
    }

    @Test
    void whatFitsComesAtOnce() {
        assertThat(answers.begin(answer(1, 1, 1, 1))).isEqualTo(answer(1, 1, 1, 1));
        assertThat(answers.begin(answer(0, 0, 0, 0))).isEqualTo(answer(0, 0, 0, 0));
    }

    @Test
    void whatDoesNotFitComesInParts() {
        CheckReply first = answers.begin(answer(5, 0, 2, 3));
        assertThat(first.getForeign()).isEqualTo(links(100, 4));
        assertThat(first.getFindings()).containsExactly("wrong");
        CheckReply second = rest(first);
        assertThat(second.getForeign()).isEqualTo(links(104, 1));
        assertThat(second.getHanging()).isEqualTo(crossings(300, 2));
        assertThat(second.getHeld()).isEqualTo(crossings(400, 1));
        // An answer may get lost.
        assertThat(rest(first)).isEqualTo(second);
        CheckReply third = rest(second);
        assertThat(third.getForeign()).isEmpty();
        assertThat(third.getHeld()).isEqualTo(crossings(401, 2));
        assertThat(third.isSetNextOffset()).isFalse();
        assertThatThrownBy(() -> rest(second)).hasMessageContaining("not kept any more");
    }

    @Test
    void whatNobodyFetchesIsDropped() {
        CheckReply first = answers.begin(answer(9, 0, 0, 0));
        nowNs.addAndGet(59_000_000_000L);
        answers.dropUnused();
        CheckReply second = rest(first);
        nowNs.addAndGet(59_000_000_000L);
        answers.dropUnused();
        assertThat(rest(first)).isEqualTo(second);
        nowNs.addAndGet(61_000_000_000L);
        answers.dropUnused();
        assertThatThrownBy(() -> rest(second)).hasMessageContaining("not kept any more");
    }

    @Test
    void theOldestGoesWhenManyAsk() {
        CheckReply first = answers.begin(answer(5, 0, 0, 0));
        CheckReply second = answers.begin(answer(5, 0, 0, 0));
        CheckReply third = answers.begin(answer(5, 0, 0, 0));
        assertThatThrownBy(() -> rest(first)).hasMessageContaining("not kept any more");
        assertThat(rest(second).getForeign()).isEqualTo(links(104, 1));
        assertThat(rest(third).getForeign()).isEqualTo(links(104, 1));
    }
}

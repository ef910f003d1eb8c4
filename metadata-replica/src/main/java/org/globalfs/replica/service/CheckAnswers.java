package org.globalfs.replica.service;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.LongSupplier;
import org.globalfs.protocol.wire.CheckReply;
import org.globalfs.protocol.wire.CheckRequest;
import org.globalfs.protocol.wire.Crossing;
import org.globalfs.protocol.wire.Links;

/**
 * What checks have found, handed out in parts: where very many names lead from one partition to
 * another, all of it is longer than an answer may be. Thread-safe.
 */
final class CheckAnswers {

    /** Entries of all lists together, of 34 bytes at most. */
    static final int PAGE = 100_000;

    private static final int MAX_KEPT = 2;
    private static final long UNUSED_LIMIT_NS = 60_000_000_000L;

    private final int page;
    private final LongSupplier clock;
    private final Map<Long, Kept> kept = new LinkedHashMap<>();

    /** An answer and its lists, which it goes without. */
    private static final class Kept {
        final CheckReply answer;
        final List<Links> foreign;
        final List<Links> unexplained;
        final List<Crossing> hanging;
        final List<Crossing> held;
        long usedNs;

        Kept(CheckReply whole) {
            answer = whole;
            foreign = whole.getForeign();
            unexplained = whole.getUnexplained();
            hanging = whole.getHanging();
            held = whole.getHeld();
            whole.setForeign(List.of());
            whole.setUnexplained(List.of());
            whole.setHanging(List.of());
            whole.setHeld(List.of());
        }

        long entries() {
            return (long) foreign.size() + unexplained.size() + hanging.size() + held.size();
        }

        CheckReply part(long from, long to) {
            long second = foreign.size();
            long third = second + unexplained.size();
            long fourth = third + hanging.size();
            return new CheckReply(answer)
                    .setForeign(cut(foreign, from, to))
                    .setUnexplained(cut(unexplained, from - second, to - second))
                    .setHanging(cut(hanging, from - third, to - third))
                    .setHeld(cut(held, from - fourth, to - fourth));
        }

        private static <T> List<T> cut(List<T> all, long from, long to) {
            int size = all.size();
            return all.subList(Math.clamp(from, 0, size), Math.clamp(to, 0, size));
        }
    }

    /**
     * @param page entries in one answer
     */
    CheckAnswers(int page, LongSupplier clock) {
        this.page = page;
        this.clock = clock;
    }

    /** The first part of an answer, which it takes over; the rest is kept for whoever has it. */
    synchronized CheckReply begin(CheckReply whole) {
        Kept answer = new Kept(whole);
        if (answer.entries() <= page) {
            return answer.part(0, page);
        }
        if (kept.size() >= MAX_KEPT) {
            kept.remove(kept.keySet().iterator().next());
        }
        long id = ThreadLocalRandom.current().nextLong(1, Long.MAX_VALUE);
        kept.put(id, answer);
        return part(id, answer, 0);
    }

    /** A part of an answer that was begun. */
    synchronized CheckReply rest(CheckRequest request) {
        Kept answer = kept.get(request.getId());
        if (answer == null || request.getOffset() < 0) {
            throw new IllegalArgumentException("what the check found is not kept any more");
        }
        return part(request.getId(), answer, request.getOffset());
    }

    private CheckReply part(long id, Kept answer, long from) {
        answer.usedNs = clock.getAsLong();
        CheckReply part = answer.part(from, from + page);
        if (from + page < answer.entries()) {
            return part.setId(id).setNextOffset(from + page);
        }
        kept.remove(id);
        return part;
    }

    /** Who asked may have gone away. */
    synchronized void dropUnused() {
        long nowNs = clock.getAsLong();
        kept.values().removeIf(answer -> nowNs - answer.usedNs > UNUSED_LIMIT_NS);
    }
}

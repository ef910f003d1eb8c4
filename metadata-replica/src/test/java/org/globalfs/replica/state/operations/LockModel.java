package org.globalfs.replica.state.operations;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.globalfs.protocol.Errno;
import org.globalfs.protocol.wire.LockKind;
import org.globalfs.protocol.wire.LockState;
import org.globalfs.protocol.wire.LockType;

/**
 * Locks as simply as they can be told: who has which byte of which file, and a queue. The last of
 * few bytes stands for all that follow.
 */
final class LockModel {

    static final int BYTES = 12;

    record Owner(long session, long number, LockKind kind) {}

    record Request(Owner owner, long ino, LockType type, int first, int last, long number) {}

    record Outcome(long session, long request, LockState state) {}

    /** inode → owner → the type of each byte; UNLOCK: not held. */
    final Map<Long, Map<Owner, LockType[]>> held = new TreeMap<>();

    final List<Request> queue = new ArrayList<>();
    final Set<Outcome> unknown = new HashSet<>();
    final List<Outcome> outcomes = new ArrayList<>();

    private Map<Owner, LockType[]> of(long ino) {
        return held.computeIfAbsent(ino, key -> new java.util.LinkedHashMap<>());
    }

    private Set<Owner> against(Request request) {
        Set<Owner> result = new HashSet<>();
        of(request.ino)
                .forEach((owner, bytes) -> {
                    if (owner.kind == request.owner.kind && !owner.equals(request.owner)) {
                        for (int at = request.first; at <= request.last; at++) {
                            boolean free =
                                    bytes[at] == LockType.UNLOCK
                                            || bytes[at] == LockType.READ
                                                    && request.type == LockType.READ;
                            if (!free) {
                                result.add(owner);
                            }
                        }
                    }
                });
        return result;
    }

    private void set(Request request) {
        LockType[] bytes =
                of(request.ino)
                        .computeIfAbsent(
                                request.owner,
                                key -> {
                                    LockType[] none = new LockType[BYTES];
                                    java.util.Arrays.fill(none, LockType.UNLOCK);
                                    return none;
                                });
        for (int at = request.first; at <= request.last; at++) {
            bytes[at] = request.type;
        }
    }

    /** errno, or GRANTED or WAITING. */
    Object lock(Request request, boolean wait) {
        boolean flock = request.owner.kind == LockKind.FLOCK;
        if (request.type == LockType.UNLOCK) {
            set(request);
            settle();
            return LockState.GRANTED;
        }
        if (flock) {
            LockType[] bytes = of(request.ino).get(request.owner);
            if (bytes != null && bytes[0] == request.type) {
                return LockState.GRANTED;
            }
            of(request.ino).remove(request.owner);
        }
        Object answer;
        if (against(request).isEmpty()) {
            set(request);
            answer = LockState.GRANTED;
        } else if (!wait) {
            answer = Errno.EAGAIN;
        } else if (!flock && reaches(request, request.owner, new HashSet<>())) {
            answer = Errno.EDEADLK;
        } else {
            queue.add(request);
            answer = LockState.WAITING;
        }
        settle();
        return answer;
    }

    private boolean reaches(Request request, Owner goal, Set<Owner> seen) {
        for (Owner owner : against(request)) {
            if (owner.equals(goal)) {
                return true;
            }
            if (seen.add(owner)) {
                for (Request waiting : queue) {
                    if (waiting.owner.equals(owner) && reaches(waiting, goal, seen)) {
                        return true;
                    }
                }
            }
        }
        return false;
    }

    /** Files one after another: none waits for another's. */
    private void settle() {
        new java.util.TreeSet<>(queue.stream().map(Request::ino).toList()).forEach(this::settle);
    }

    private void settle(long ino) {
        boolean again = true;
        while (again) {
            again = false;
            for (Request request : List.copyOf(queue)) {
                if (request.ino == ino && against(request).isEmpty()) {
                    queue.remove(request);
                    set(request);
                    Outcome outcome =
                            new Outcome(request.owner.session, request.number, LockState.GRANTED);
                    outcomes.add(outcome);
                    unknown.add(outcome);
                    again = true;
                }
            }
        }
    }

    LockState cancel(long session, long number) {
        for (Request request : queue) {
            if (request.owner.session == session && request.number == number) {
                queue.remove(request);
                outcomes.add(new Outcome(session, number, LockState.GONE));
                return LockState.GONE;
            }
        }
        return unknown.contains(new Outcome(session, number, LockState.GRANTED))
                ? LockState.GRANTED
                : LockState.GONE;
    }

    void end(long session) {
        for (Request request : List.copyOf(queue)) {
            if (request.owner.session == session) {
                queue.remove(request);
                outcomes.add(new Outcome(session, request.number, LockState.GONE));
            }
        }
        unknown.removeIf(outcome -> outcome.session == session);
        held.values().forEach(owners -> owners.keySet().removeIf(o -> o.session == session));
        settle();
    }
}

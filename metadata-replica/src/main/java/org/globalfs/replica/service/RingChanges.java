package org.globalfs.replica.service;

import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.globalfs.multicast.MembershipChange;
import org.globalfs.multicast.Multicast;
import org.globalfs.protocol.HostPort;
import org.globalfs.protocol.wire.RingChangeReply;
import org.globalfs.protocol.wire.RingChangeRequest;
import org.globalfs.protocol.wire.RingChangeResult;

/** Takes changes of the rings' memberships to their coordinators. */
final class RingChanges {

    private static final long ANSWER_MS = 2_000;
    private static final int MAX_ADDRESS = 300;

    private final int home;
    private final Multicast multicast;

    RingChanges(int home, Multicast multicast) {
        this.home = home;
        this.multicast = multicast;
    }

    RingChangeReply change(RingChangeRequest request) throws InterruptedException {
        int ring = request.getRing();
        if (ring != 0 && ring != home) {
            return reply(
                    0,
                    RingChangeResult.REFUSED,
                    "this replica is of ring 0 and ring " + home + ", not of ring " + ring);
        }
        try {
            MembershipChange.Outcome outcome =
                    multicast.change(ring, asked(request)).get(ANSWER_MS, TimeUnit.MILLISECONDS);
            return reply(ring, result(outcome.result()), outcome.detail());
        } catch (IllegalArgumentException e) {
            return reply(ring, RingChangeResult.REFUSED, String.valueOf(e.getMessage()));
        } catch (TimeoutException e) {
            return reply(ring, RingChangeResult.NOT_YET, "the replica is busy");
        } catch (ExecutionException e) {
            throw new IllegalStateException("the change failed", e.getCause());
        }
    }

    private static MembershipChange asked(RingChangeRequest request) {
        int id = request.getReplica();
        return switch (request.getKind()) {
            case ADD -> new MembershipChange.AddLearner(id, address(request.getAddress()));
            case PROMOTE -> new MembershipChange.Promote(id);
            case REMOVE -> new MembershipChange.Remove(id);
            case REPLACE -> new MembershipChange.Replace(id, request.getBy());
        };
    }

    private static String address(String text) {
        if (text == null || text.length() > MAX_ADDRESS) {
            throw new IllegalArgumentException("a replica is added with its ring address");
        }
        return HostPort.parse(text).toString();
    }

    private static RingChangeResult result(MembershipChange.Result result) {
        return switch (result) {
            case PROPOSED -> RingChangeResult.PROPOSED;
            case UNCHANGED -> RingChangeResult.UNCHANGED;
            case NOT_COORDINATOR -> RingChangeResult.NOT_COORDINATOR;
            case NOT_YET -> RingChangeResult.NOT_YET;
            case REFUSED -> RingChangeResult.REFUSED;
        };
    }

    private RingChangeReply reply(int ring, RingChangeResult result, String detail) {
        return new RingChangeReply(result, detail, multicast.coordinator(ring));
    }
}

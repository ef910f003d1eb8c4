package org.globalfs.client.vfs;

import java.util.ArrayList;
import java.util.List;
import org.globalfs.client.cache.LeaseOffer;
import org.globalfs.client.cache.MetadataCache;
import org.globalfs.client.cache.Validity;
import org.globalfs.client.io.ContentMap;
import org.globalfs.client.meta.Answer;
import org.globalfs.client.meta.MetadataClient;
import org.globalfs.client.meta.Patience;
import org.globalfs.client.meta.Session;
import org.globalfs.protocol.Errno;
import org.globalfs.protocol.wire.Attributes;
import org.globalfs.protocol.wire.Credentials;
import org.globalfs.protocol.wire.OpenOp;
import org.globalfs.protocol.wire.ReadOp;
import org.globalfs.protocol.wire.ReadReply;
import org.globalfs.protocol.wire.UpdateOp;
import org.globalfs.protocol.wire.UpdateReply;
import org.jspecify.annotations.Nullable;

/** Sends reads and updates of the metadata, and lets the cache learn from every reply. */
final class Requests {

    private final MetadataClient client;
    private final MetadataCache cache;
    private final long timeoutNs;

    Requests(MetadataClient client, MetadataCache cache, long timeoutNs) {
        this.client = client;
        this.cache = cache;
        this.timeoutNs = timeoutNs;
    }

    MetadataCache cache() {
        return cache;
    }

    MetadataClient client() {
        return client;
    }

    /** The partition that an inode lives in, as far as known. */
    int home(long ino) {
        return client.homes().of(ino);
    }

    /** A partition's reply, and the right by which the cache may keep what it says. */
    record Read(ReadReply reply, @Nullable Validity validity, long stamp, int partition) {}

    record Updated(UpdateReply reply, @Nullable Validity validity, long stamp) {}

    Patience patience(Caller caller) {
        long deadlineNs = System.nanoTime() + timeoutNs;
        if (caller.deadlineNs() - deadlineNs < 0) {
            deadlineNs = caller.deadlineNs();
        }
        return Patience.until(deadlineNs, caller::cancelled);
    }

    /** One of several commands that the caller waits for was executed. */
    void progressed(Caller caller) {
        caller.patientUntil(System.nanoTime() + timeoutNs);
    }

    static Credentials credentials(Caller caller) {
        Credentials result = new Credentials(caller.uid(), caller.gid());
        if (caller.uid() != 0 && caller.groups().length > 0) {
            List<Integer> groups = new ArrayList<>(caller.groups().length);
            for (int group : caller.groups()) {
                groups.add(group);
            }
            result.setGroups(groups);
        }
        return result;
    }

    /** The reply whatever its errno. */
    Read tryRead(Caller caller, int partition, ReadOp op) {
        return tryRead(credentials(caller), partition, op, patience(caller));
    }

    Read tryRead(Credentials credentials, int partition, ReadOp op, Patience patience) {
        long stamp = cache.stamp();
        Answer<ReadReply> answer = client.read(partition, credentials, op, patience);
        ReadReply reply = answer.reply();
        Validity validity =
                answer.answered()
                        ? cache.validity(
                                answer.partition(),
                                new LeaseOffer(
                                        answer.replica(),
                                        reply.getLease(),
                                        answer.sentNs(),
                                        reply.getLeaseMs()),
                                reply.getPosition().getInstance())
                        : null;
        learn(reply.getAttributes(), answer.partition(), validity, stamp);
        learn(reply.getParent(), answer.partition(), validity, stamp);
        return new Read(reply, validity, stamp, answer.partition());
    }

    /**
     * Attributes and, of a regular file, the content map, which the cache learns; the reply
     * whatever its errno.
     *
     * @param accessMask is checked against the mode, when not 0
     */
    Read open(Credentials credentials, long ino, int accessMask, Patience patience) {
        ReadOp op = ReadOp.open(new OpenOp(ino, accessMask));
        Read read = tryRead(credentials, home(ino), op, patience);
        ReadReply reply = read.reply;
        if (reply.getErrno() == 0 && reply.isSetContentEnd()) {
            ContentMap content =
                    ContentMap.of(
                            reply.getAttributes().getVersion(),
                            reply.getAttributes().getSize(),
                            0,
                            reply.getContentEnd(),
                            reply.isSetExtents() ? reply.getExtents() : List.of());
            cache.learnContent(ino, content, read.validity, read.stamp);
        }
        return read;
    }

    Read read(Caller caller, int partition, ReadOp op) throws FsException {
        Read read = tryRead(caller, partition, op);
        check(read.reply.getErrno());
        return read;
    }

    /** Until that is closed, what this thread's updates were answered may still go unnoticed. */
    Session.Taking taking() {
        return client.session().taking();
    }

    /** Before this thread waits for the kernel, which may wait for requests of others. */
    Session.Deferring deferring() {
        return client.session().deferring();
    }

    /**
     * Executes an update.
     *
     * @param touched inodes that it changes: what is cached of them is forgotten where the reply
     *     does not say it anew
     */
    Updated update(Caller caller, int partition, UpdateOp op, long... touched) throws FsException {
        Updated updated = tryUpdate(credentials(caller), partition, op, patience(caller), touched);
        check(updated.reply.getErrno());
        return updated;
    }

    private Updated tryUpdate(
            Credentials credentials,
            int partition,
            UpdateOp op,
            Patience patience,
            long... touched) {
        long stamp = cache.stamp();
        try (var _ = taking()) {
            Answer<UpdateReply> answer = client.update(partition, credentials, op, patience);
            Validity validity = learn(answer, stamp, touched);
            return new Updated(answer.reply(), validity, stamp);
        }
    }

    /** Learns from an update's answer; returns by what right the caller may note more. */
    @Nullable Validity learn(Answer<UpdateReply> answer, long stamp, long... touched) {
        UpdateReply reply = answer.reply();
        if (!answer.answered()) {
            // It may take effect later, and nobody will tell.
            for (long ino : touched) {
                cache.uncertain(ino);
            }
            return null;
        }
        if (reply.getErrno() != 0) {
            return null;
        }
        long instance =
                reply.isSetPosition() && reply.getPosition().getPartition() == answer.partition()
                        ? reply.getPosition().getInstance()
                        : -1;
        Validity validity =
                cache.validity(
                        answer.partition(),
                        new LeaseOffer(
                                answer.replica(),
                                reply.getLease(),
                                answer.sentNs(),
                                reply.getLeaseMs()),
                        instance);
        for (long ino : touched) {
            boolean told = validity != null && answer.partition() == home(ino) && tells(reply, ino);
            if (!told) {
                cache.forget(ino);
            }
        }
        learnOutcome(reply.getAttributes(), answer.partition(), validity, stamp);
        learnOutcome(reply.getParent(), answer.partition(), validity, stamp);
        learnOutcome(reply.getNewParent(), answer.partition(), validity, stamp);
        return validity;
    }

    /**
     * What an update made. Where the cache may not keep it, a read of before the update that is
     * still under way must not be kept either.
     */
    private void learnOutcome(
            @Nullable Attributes attributes,
            int partition,
            @Nullable Validity validity,
            long stamp) {
        learn(attributes, partition, validity, stamp);
        if (attributes != null && !cache.knows(attributes.getIno(), attributes.getVersion())) {
            cache.forget(attributes.getIno());
        }
    }

    private static boolean tells(UpdateReply reply, long ino) {
        return is(reply.getAttributes(), ino)
                || is(reply.getParent(), ino)
                || is(reply.getNewParent(), ino);
    }

    private static boolean is(@Nullable Attributes attributes, long ino) {
        return attributes != null && attributes.getIno() == ino;
    }

    private void learn(
            @Nullable Attributes attributes,
            int partition,
            @Nullable Validity validity,
            long stamp) {
        if (attributes != null) {
            boolean own = home(attributes.getIno()) == partition;
            cache.learn(attributes, own ? validity : null, stamp);
        }
    }

    static void check(int errno) throws FsException {
        if (errno != 0) {
            throw FsException.of(Errno.of(errno));
        }
    }
}

package org.globalfs.client.cache;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import org.globalfs.client.io.ContentMap;
import org.globalfs.client.meta.SessionVector;
import org.globalfs.protocol.wire.Attributes;
import org.globalfs.protocol.wire.DirectoryEntry;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class MetadataCacheTest {

    private static final long DIRECTORY = (1L << 48) + 5;
    private static final long FILE = (1L << 48) + 6;
    private static final byte[] NAME = {'n'};

    private final SessionVector vector = new SessionVector();
    private final MetadataCache cache = new MetadataCache(vector, 1 << 20);

    private static Attributes attributes(long ino, long version) {
        return new Attributes(ino, 0100644, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, version);
    }

    private @Nullable Validity granted(int replica, int leaseMs) {
        return cache.validity(1, new LeaseOffer(replica, 0, System.nanoTime(), leaseMs), -1);
    }

    private long version(long ino) {
        return Objects.requireNonNull(cache.attributes(ino)).getVersion();
    }

    @Test
    void nothingIsKnownWithoutAGrant() {
        cache.learn(attributes(FILE, 1), granted(1, 0), cache.stamp());
        assertThat(cache.attributes(FILE)).isNull();
    }

    @Test
    void whatAnUpdateMayStillChangeIsNotKept() {
        cache.learn(attributes(FILE, 1), granted(1, 60_000), cache.stamp());
        cache.uncertain(FILE);
        assertThat(cache.attributes(FILE)).isNull();
        cache.learn(attributes(FILE, 1), granted(1, 60_000), cache.stamp());
        cache.learn(attributes(DIRECTORY, 1), granted(1, 60_000), cache.stamp());
        assertThat(cache.attributes(FILE)).isNull();
        assertThat(version(DIRECTORY)).isEqualTo(1);
    }

    @Test
    void aGrantEndsWithTheLease() {
        cache.learn(attributes(FILE, 1), granted(1, 60_000), cache.stamp());
        assertThat(version(FILE)).isEqualTo(1);
        assertThat(cache.kernelTimeoutNs(FILE)).isPositive();
        cache.endLease(1);
        assertThat(cache.attributes(FILE)).isNull();
        granted(1, 60_000);
        assertThat(cache.attributes(FILE)).as("a new lease brings no old grant back").isNull();
    }

    @Test
    void aLeaseThatEndedAtTheCoordinatorVoidsItsGrants() {
        cache.learn(attributes(FILE, 1), numbered(7), cache.stamp());
        cache.learn(attributes(DIRECTORY, 1), numbered(7), cache.stamp());
        assertThat(version(FILE)).isEqualTo(1);
        cache.learn(attributes(DIRECTORY, 1), numbered(9), cache.stamp());
        assertThat(version(DIRECTORY)).isEqualTo(1);
        assertThat(cache.attributes(FILE)).as("granted under an earlier lease").isNull();
        assertThat(numbered(7)).as("a late reply").isNull();
        assertThat(version(DIRECTORY)).isEqualTo(1);
    }

    /** A thread that was slow after it had looked at its reply's lease. */
    @Test
    void whatIsLearnedByALeaseThatHasEndedReplacesNothing() {
        Validity former = numbered(7);
        List<String> takenBack = new ArrayList<>();
        cache.onDropped((ino, names, recalled) ->
                names.forEach(name -> takenBack.add(new String(name, UTF_8))));
        cache.learn(attributes(DIRECTORY, 2), numbered(9), cache.stamp());
        cache.learnName(DIRECTORY, NAME, new Name(FILE, 0), 2, numbered(9), cache.stamp());
        assertThat(cache.nameInKernel(DIRECTORY, NAME)).isTrue();
        cache.learn(attributes(DIRECTORY, 1), former, cache.stamp());
        assertThat(version(DIRECTORY)).isEqualTo(2);
        cache.recalled(DIRECTORY);
        assertThat(takenBack).containsExactly("n");
    }

    @Test
    void aRestartedCoordinatorsLeasesCountWhateverTheirNumbers() {
        cache.learn(attributes(FILE, 1), numbered(9), cache.stamp());
        cache.endLease(1);
        cache.learn(attributes(DIRECTORY, 1), numbered(7), cache.stamp());
        assertThat(version(DIRECTORY)).isEqualTo(1);
        assertThat(cache.attributes(FILE)).isNull();
    }

    private @Nullable Validity numbered(long lease) {
        return cache.validity(1, new LeaseOffer(1, lease, System.nanoTime(), 60_000), -1);
    }

    @Test
    void aReplyThatComesAfterItsLeaseGrantsNothing() {
        long sentNs = System.nanoTime() - 2_000_000_000L;
        assertThat(cache.validity(1, new LeaseOffer(1, 0, sentNs, 1_000), -1)).isNull();
    }

    @Test
    void anotherCoordinatorsGrantVoidsTheOldOnes() {
        cache.learn(attributes(FILE, 1), granted(1, 60_000), cache.stamp());
        cache.learn(attributes(DIRECTORY, 1), granted(2, 60_000), cache.stamp());
        assertThat(cache.attributes(FILE)).isNull();
        assertThat(version(DIRECTORY)).isEqualTo(1);
    }

    @Test
    void aRecallOvertakesTheReplyThatItConcerns() {
        long stamp = cache.stamp();
        Validity validity = granted(1, 60_000);
        cache.recalled(FILE);
        cache.learn(attributes(FILE, 1), validity, stamp);
        assertThat(cache.attributes(FILE)).isNull();
        cache.learn(attributes(FILE, 2), validity, cache.stamp());
        assertThat(version(FILE)).isEqualTo(2);
    }

    @Test
    void olderNewsOfANameIsDropped() {
        Validity validity = granted(1, 60_000);
        cache.learn(attributes(DIRECTORY, 1), validity, cache.stamp());
        long stamp = cache.stamp();
        cache.learnName(DIRECTORY, NAME, new Name(FILE, 0100000), 3, validity, stamp);
        cache.learnName(DIRECTORY, NAME, Name.ABSENT, 2, validity, stamp);
        assertThat(cache.name(DIRECTORY, NAME)).isEqualTo(new Name(FILE, 0100000));
        cache.learnName(DIRECTORY, NAME, Name.ABSENT, 4, validity, stamp);
        assertThat(cache.name(DIRECTORY, NAME)).isEqualTo(Name.ABSENT);
        assertThat(cache.name(DIRECTORY, new byte[] {'x'})).isNull();
        cache.learnComplete(DIRECTORY, validity, stamp);
        assertThat(cache.name(DIRECTORY, new byte[] {'x'})).isEqualTo(Name.ABSENT);
    }

    @Test
    void aListingIsKnownAtItsDirectorysVersionOnly() {
        Validity validity = granted(1, 60_000);
        long stamp = cache.stamp();
        List<DirectoryEntry> entries =
                List.of(new DirectoryEntry(FILE, ByteBuffer.wrap(NAME), 0100000, 1));
        cache.learn(attributes(DIRECTORY, 4), validity, stamp);
        cache.learnListing(DIRECTORY, entries, 3, validity, stamp);
        assertThat(cache.listing(DIRECTORY)).as("of before").isNull();
        cache.learnListing(DIRECTORY, entries, 4, validity, stamp);
        cache.learnListing(DIRECTORY, List.of(), 3, validity, stamp);
        assertThat(cache.listing(DIRECTORY)).isEqualTo(entries);
        cache.learn(attributes(DIRECTORY, 5), validity, stamp);
        assertThat(cache.listing(DIRECTORY)).isNull();
        cache.learnListing(DIRECTORY, List.of(), 5, validity, stamp);
        assertThat(cache.listing(DIRECTORY)).isEmpty();
        cache.recalled(DIRECTORY);
        cache.learnListing(DIRECTORY, List.of(), 5, validity, stamp);
        assertThat(cache.listing(DIRECTORY)).isNull();
    }

    @Test
    void olderAttributesDoNotReplaceNewerOnes() {
        Validity validity = granted(1, 60_000);
        cache.learn(attributes(FILE, 5), validity, cache.stamp());
        cache.learn(attributes(FILE, 4), validity, cache.stamp());
        assertThat(version(FILE)).isEqualTo(5);
        cache.learn(attributes(FILE, 6), null, cache.stamp());
        assertThat(cache.attributes(FILE))
                .as("known to be old, and nothing newer granted")
                .isNull();
    }

    @Test
    void theGlobalPartitionIsBelievedUntilItMoves() {
        long root = 1;
        vector.advance(0, 10);
        Validity validity = cache.validity(0, new LeaseOffer(1, 0, System.nanoTime(), 0), 10);
        cache.learn(attributes(root, 1), validity, cache.stamp());
        assertThat(version(root)).isEqualTo(1);
        assertThat(cache.kernelTimeoutNs(root)).isZero();
        vector.advance(0, 11);
        assertThat(cache.attributes(root)).isNull();
        assertThat(cache.validity(0, new LeaseOffer(1, 0, System.nanoTime(), 0), 10))
                .as("an old reply")
                .isNull();
    }

    /** Also when it did not move meanwhile, as it does not most of the time. */
    @Test
    void theGlobalPartitionIsBelievedAgainOnceAReplicaWasAsked() {
        long longAgoNs = System.nanoTime() - 2_000_000_000L;
        cache.learn(
                attributes(FILE, 1),
                cache.validity(0, new LeaseOffer(1, 0, longAgoNs, 0), 7),
                cache.stamp());
        vector.advance(0, 7);
        assertThat(cache.attributes(FILE)).as("too long ago").isNull();
        cache.learn(attributes(DIRECTORY, 1), recent(7), cache.stamp());
        assertThat(version(DIRECTORY)).isEqualTo(1);
        assertThat(version(FILE)).as("read at the same instance").isEqualTo(1);
        cache.learn(attributes(FILE, 1), recent(7), cache.stamp());
        assertThat(version(FILE)).isEqualTo(1);
        vector.advance(0, 8);
        assertThat(cache.attributes(FILE)).isNull();
    }

    /** The session must never be shown, by its kernel, less than it has seen. */
    @Test
    void theKernelForgetsTheGlobalPartitionBeforeTheSessionSeesMore() {
        List<Long> taken = new ArrayList<>();
        vector.onGlobalMoved(cache::globalMoved);
        vector.advance(0, 7);
        cache.learn(attributes(9, 1), recent(7), cache.stamp());
        assertThat(cache.kernelTimeoutNs(9)).as("nobody takes it back").isZero();
        AtomicBoolean mayTell = new AtomicBoolean();
        cache.onGlobalDropped(mayTell::get, taken::addAll);
        assertThat(cache.kernelTimeoutNs(9)).as("it cannot be taken back now").isZero();
        mayTell.set(true);
        assertThat(cache.kernelTimeoutNs(9)).isPositive();
        vector.advance(0, 7);
        vector.advance(0, 6);
        assertThat(taken).isEmpty();
        vector.advance(0, 8);
        assertThat(taken).containsExactly(9L);
        assertThat(cache.kernelTimeoutNs(9)).isZero();
        cache.learn(attributes(9, 2), recent(8), cache.stamp());
        assertThat(cache.kernelTimeoutNs(9)).isPositive();
        vector.advance(0, 9);
        assertThat(taken).containsExactly(9L, 9L);
    }

    private @Nullable Validity recent(long instance) {
        return cache.validity(0, new LeaseOffer(1, 0, System.nanoTime(), 0), instance);
    }

    @Test
    void whatTheKernelWasToldIsTakenBack() {
        List<String> dropped = new ArrayList<>();
        cache.onDropped((ino, names, recalled) -> {
            for (byte[] name : names) {
                dropped.add(ino + "/" + new String(name, java.nio.charset.StandardCharsets.UTF_8));
            }
            if (recalled) {
                dropped.add("recalled " + ino);
            }
        });
        Validity validity = granted(1, 60_000);
        cache.learnName(DIRECTORY, NAME, Name.ABSENT, 1, validity, cache.stamp());
        cache.learnName(DIRECTORY, new byte[] {'o'}, Name.ABSENT, 1, validity, cache.stamp());
        cache.nameInKernel(DIRECTORY, NAME);
        cache.recalled(DIRECTORY);
        assertThat(dropped).containsExactly(DIRECTORY + "/n", "recalled " + DIRECTORY);
        assertThat(cache.kernelTimeoutNs(DIRECTORY)).isZero();
    }

    @Test
    void theKernelIsToldNoMoreOfADirectoryThatIsBeingForgotten() {
        Node node = new Node(Objects.requireNonNull(granted(1, 60_000)));
        ByteBuffer told = ByteBuffer.wrap(NAME);
        ByteBuffer late = ByteBuffer.wrap(new byte[] {'l'});
        node.name(told, Name.ABSENT, 1);
        node.name(late, Name.ABSENT, 1);
        assertThat(node.nameInKernel(told)).isTrue();
        assertThat(node.nameInKernel(ByteBuffer.wrap(new byte[] {'u'}))).as("unknown").isFalse();
        assertThat(node.forgotten()).containsExactly(NAME);
        assertThat(node.nameInKernel(late)).isFalse();
    }

    @Test
    void anInodeDroppedForLackOfMemoryIsForgottenProperly() {
        MetadataCache small = new MetadataCache(vector, 4_000);
        Validity validity = small.validity(1, new LeaseOffer(1, 0, System.nanoTime(), 60_000), -1);
        long stamp = small.stamp();
        for (long ino = FILE; ino < FILE + 1_000; ino++) {
            small.learn(attributes(ino, 1), validity, stamp);
        }
        long gone = FILE;
        while (small.attributes(gone) != null) {
            gone++;
        }
        small.learn(attributes(gone, 1), validity, stamp);
        assertThat(small.attributes(gone)).as("asked before it was dropped").isNull();
    }

    /** As programs look up what strangers ask for, in directories of which all is known. */
    @Test
    void namesThatNobodyHasTakeBoundedMemoryOfADirectoryAndOfAll() {
        Validity validity = granted(1, 600_000);
        int told = 0;
        cache.learnComplete(DIRECTORY, validity, cache.stamp());
        for (int i = 0; i < 10_000; i++) {
            told += cache.nameInKernel(DIRECTORY, ("absent-" + i).getBytes(UTF_8)) ? 1 : 0;
        }
        assertThat(told).isBetween(1, 5_000);
        long kept = 0;
        for (long directory = FILE; directory < FILE + 100; directory++) {
            cache.learnComplete(directory, validity, cache.stamp());
            for (int i = 0; i < 1_000; i++) {
                cache.nameInKernel(directory, ("absent-" + i).getBytes(UTF_8));
            }
        }
        for (long directory = FILE; directory < FILE + 100; directory++) {
            kept += cache.name(directory, NAME) == null ? 0 : 1;
        }
        assertThat(kept).as("directories of which all is known still").isBetween(1L, 20L);
    }

    /** Each that it looks up takes the place of another, which is forgotten. */
    @Test
    void aWalkOfABigTreeTakesNoMoreMemoryTheLongerItIs() {
        Validity validity = granted(1, 600_000);
        long before = cache.stamp();
        cache.recalled(FILE);
        for (long ino = FILE + 1; ino < FILE + 1_000_000; ino++) {
            cache.learn(attributes(ino, 1), validity, cache.stamp());
        }
        assertThat(cache.forgottenKept()).isLessThanOrEqualTo(ForgottenInodes.MOST);
        cache.learn(attributes(FILE, 1), validity, before);
        assertThat(cache.attributes(FILE)).as("asked before it was recalled").isNull();
        cache.learn(attributes(FILE, 2), validity, cache.stamp());
        assertThat(version(FILE)).isEqualTo(2);
    }

    /** What is forgotten again and again has not been so for as long as at first. */
    @Test
    void onlyWhatIsOlderThanAllThatIsNotedCountsAsUnknown() {
        ForgottenInodes forgotten = new ForgottenInodes();
        forgotten.forgotten(1);
        long stamp = forgotten.stamp();
        for (long ino = 2; ino <= ForgottenInodes.MOST; ino++) {
            forgotten.forgotten(ino);
            forgotten.forgotten(1);
        }
        assertThat(forgotten.since(stamp, 1)).isTrue();
        assertThat(forgotten.since(stamp, 0)).isFalse();
        forgotten.forgotten(-1);
        assertThat(forgotten.since(stamp, 0)).isTrue();
        assertThat(forgotten.since(forgotten.stamp(), 1)).isFalse();
        assertThat(forgotten.since(forgotten.stamp() - 1, 1)).isFalse();
        assertThat(forgotten.since(forgotten.stamp() - 2, 1)).isTrue();
    }

    /** A read that was answered before this client's own update, and arrives after it. */
    @Test
    void contentOlderThanTheAttributesIsNotNoted() {
        Validity validity = granted(1, 60_000);
        long stamp = cache.stamp();
        cache.learn(attributes(FILE, 2), validity, stamp);
        cache.learnContent(FILE, ContentMap.empty(1), validity, stamp);
        assertThat(cache.content(FILE)).isNull();
        cache.learnContent(FILE, ContentMap.empty(2), validity, stamp);
        assertThat(cache.content(FILE)).isNotNull();
    }

    /** An update's reply may not be kept, so neither may an older read that is still under way. */
    @Test
    void aReadOfBeforeAnOwnUpdateDoesNotOutliveIt() {
        Validity validity = granted(1, 60_000);
        long update = cache.stamp();
        cache.recalled(FILE);
        long read = cache.stamp();
        cache.learn(attributes(FILE, 2), validity, update);
        assertThat(cache.knows(FILE, 2)).isFalse();
        cache.forget(FILE);
        cache.learn(attributes(FILE, 1), validity, read);
        assertThat(cache.attributes(FILE)).isNull();
    }

    @Test
    void contentFollowsOwnChangesOnlyWhereItWasKnown() {
        Validity validity = granted(1, 60_000);
        changeContent(9, 1);
        assertThat(cache.content(FILE)).isNull();
        cache.learnContent(FILE, ContentMap.empty(1), validity, cache.stamp());
        changeContent(2, 1);
        assertThat(contentVersion()).isEqualTo(2);
        changeContent(4, 2);
        assertThat(contentVersion()).isEqualTo(4);
    }

    @Test
    void anOwnChangeWhoseAnswerIsOvertakenChangesNothing() {
        Validity validity = granted(1, 60_000);
        cache.learnContent(FILE, ContentMap.empty(8), validity, cache.stamp());
        changeContent(7, 1);
        changeContent(8, 1);
        assertThat(contentVersion()).isEqualTo(8);
        changeContent(10, 1);
        assertThat(cache.content(FILE)).as("somebody else made version 9").isNull();
    }

    private void changeContent(long version, int steps) {
        cache.changeContent(FILE, version, steps, known -> ContentMap.empty(version));
    }

    private long contentVersion() {
        return Objects.requireNonNull(cache.content(FILE)).version();
    }
}

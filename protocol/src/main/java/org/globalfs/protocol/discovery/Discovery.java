package org.globalfs.protocol.discovery;

import java.io.IOException;
import java.util.List;
import java.util.Optional;

/** Membership of the cluster; the last known view is kept while its source is away. Thread-safe. */
public interface Discovery {
    /** Announces a member of this process for as long as the process lives. */
    void register(Member member);

    /**
     * Changes what is announced of a member of this process; it is there all the time. Does nothing
     * when it is not announced.
     *
     * @throws IOException the source does not take it now
     */
    void update(Member member) throws IOException;

    /** The members of a role, from memory. */
    List<Member> members(Role role);

    /** Whether the view follows its source now; what it lacks else may be there all the same. */
    boolean isCurrent();

    /**
     * Whether {@link #recordServing} was ever called for this replica of the cluster.
     *
     * @throws IOException the source does not answer
     */
    boolean hasServed(int replica) throws IOException;

    /**
     * Remembers for good that the replica takes part in its rings: a disk of it that is empty later
     * has been lost or replaced.
     *
     * @throws IOException the source does not answer
     */
    void recordServing(int replica) throws IOException;

    /**
     * Where the cluster keeps its blocks; empty before a server has recorded it.
     *
     * @throws IOException the source does not answer
     */
    Optional<RecordedStore> recordedStore() throws IOException;

    /**
     * Records where the cluster keeps its blocks.
     *
     * @return whether what was recorded was as expected, and is now the other
     * @throws IOException the source does not answer
     */
    boolean recordStore(Optional<RecordedStore> expected, RecordedStore next) throws IOException;

    /** Runs `listener` after each change of the view, on a thread of the discovery's own. */
    void onChange(Runnable listener);
}

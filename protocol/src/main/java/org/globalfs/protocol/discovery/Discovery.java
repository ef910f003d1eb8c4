package org.globalfs.protocol.discovery;

import java.util.List;

/** Membership of the cluster; the last known view is kept while its source is away. Thread-safe. */
public interface Discovery {
    /** Announces a member of this process for as long as the process lives. */
    void register(Member member);

    /** The members of a role, from memory. */
    List<Member> members(Role role);

    /** Runs `listener` after each change of the view, on a thread of the discovery's own. */
    void onChange(Runnable listener);
}

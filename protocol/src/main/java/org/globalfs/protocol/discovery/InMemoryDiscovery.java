package org.globalfs.protocol.discovery;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;

/** Membership within one process, for tests and tools. */
public final class InMemoryDiscovery implements Discovery {
    private final Map<String, Member> members = new TreeMap<>();
    private final Set<Integer> served = ConcurrentHashMap.newKeySet();
    private final List<Runnable> listeners = new CopyOnWriteArrayList<>();
    private volatile boolean current = true;
    private @Nullable RecordedStore store;

    @Override
    public void register(Member member) {
        synchronized (members) {
            members.put(member.role() + "/" + member.id(), member);
        }
        listeners.forEach(Runnable::run);
    }

    @Override
    public void update(Member member) {
        synchronized (members) {
            members.replace(member.role() + "/" + member.id(), member);
        }
        listeners.forEach(Runnable::run);
    }

    /** As if the member's process had died. */
    public void remove(Role role, String id) {
        synchronized (members) {
            members.remove(role + "/" + id);
        }
        listeners.forEach(Runnable::run);
    }

    @Override
    public List<Member> members(Role role) {
        List<Member> found = new ArrayList<>();
        synchronized (members) {
            for (Member member : members.values()) {
                if (member.role() == role) {
                    found.add(member);
                }
            }
        }
        return found;
    }

    /** As if the connection to its source were lost, or there again. */
    public void current(boolean value) {
        current = value;
    }

    @Override
    public boolean isCurrent() {
        return current;
    }

    @Override
    public boolean hasServed(int replica) {
        return served.contains(replica);
    }

    @Override
    public void recordServing(int replica) {
        served.add(replica);
    }

    @Override
    public synchronized Optional<RecordedStore> recordedStore() {
        return Optional.ofNullable(store);
    }

    @Override
    public synchronized boolean recordStore(Optional<RecordedStore> expected, RecordedStore next) {
        boolean same = expected.equals(Optional.ofNullable(store));
        if (same) {
            store = next;
        }
        return same;
    }

    @Override
    public void onChange(Runnable listener) {
        listeners.add(listener);
    }
}

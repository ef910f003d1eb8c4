package org.globalfs.multicast.sim;

import org.globalfs.multicast.ImportSource;
import org.globalfs.multicast.core.PersistedState;
import org.globalfs.multicast.core.RingConfig;
import org.globalfs.multicast.core.RingCore;
import org.jspecify.annotations.Nullable;

/** Makes the core under test: the production one, or a mutant that the simulator must catch. */
@FunctionalInterface
interface CoreFactory {
    RingCore create(
            RingConfig config, PersistedState state, @Nullable ImportSource imports, long nowNs);
}

package org.globalfs.client.fuse;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;

/** The same through libfuse 2. */
class JnrFuseFaultsTest extends FuseFaultsTest {
    @Override
    String[] with(String... options) {
        return Stream.concat(Stream.of(options), Stream.of("jnr")).toArray(String[]::new);
    }

    @BeforeEach
    @Override
    void prepare() throws Exception {
        assumeTrue(
                MountedProcess.hasLibFuse(),
                "SKIPPED: no libfuse 2: install it with 'apt-get install libfuse2'");
        super.prepare();
    }
}

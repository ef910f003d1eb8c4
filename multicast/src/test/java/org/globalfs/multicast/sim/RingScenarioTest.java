package org.globalfs.multicast.sim;

import java.io.IOException;
import java.util.stream.Stream;
import org.globalfs.multicast.Scenarios;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/** One ring, step by step: {@link RingScenario} has the commands. */
class RingScenarioTest {
    @TestFactory
    Stream<DynamicTest> scenarios() throws IOException {
        return Scenarios.in("ring", () -> new RingScenario()::execute);
    }
}

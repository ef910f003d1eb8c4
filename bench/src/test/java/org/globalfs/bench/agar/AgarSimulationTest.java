package org.globalfs.bench.agar;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.globalfs.datastore.cache.policy.HullPlanner;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** In simulated time, from a seed: nothing here depends on the machine. */
class AgarSimulationTest {
    private static final long SEED = 1;
    private static final int WARM = 5_000;

    /** Below this, a difference is chance. */
    private static final double CHANCE = 0.005;

    private static final int THREADS = 2;

    /** An exact plan of known popularities gains 15, 21 and 35 %. */
    @ParameterizedTest
    @CsvSource({"10, 0.14", "20, 0.19", "50, 0.32"})
    void agarReadsSooner(double megabytes, double gain) {
        assertThat(Comparison.of(new Setting(1.1, megabytes, WARM), SEED).gain())
                .isGreaterThanOrEqualTo(gain);
    }

    /** Each size and each skew, with some other; {@code -Dglobalfs.agar=all} for all of them. */
    @Test
    void agarIsNeverWorse() throws Exception {
        boolean all = "all".equals(System.getProperty("globalfs.agar"));
        List<Callable<Double>> gains = new ArrayList<>();
        List<Setting> settings = new ArrayList<>();
        for (int m = 0; m < AgarBench.MEGABYTES.length; m++) {
            for (int s = all ? 0 : m;
                    s < AgarBench.SKEWS.length;
                    s += all ? 1 : AgarBench.MEGABYTES.length) {
                Setting setting = new Setting(AgarBench.SKEWS[s], AgarBench.MEGABYTES[m], WARM);
                settings.add(setting);
                gains.add(() -> Comparison.of(setting, SEED).gain());
            }
        }
        try (ExecutorService threads = Executors.newFixedThreadPool(THREADS)) {
            List<Future<Double>> found = threads.invokeAll(gains);
            for (int i = 0; i < settings.size(); i++) {
                assertThat(found.get(i).get()).as("%s", settings.get(i)).isGreaterThan(-CHANCE);
            }
        }
    }

    /** With what is read after a start alone: popularities are hardly known yet. */
    @ParameterizedTest
    @CsvSource({"5", "20", "100"})
    void agarReadsSoonerFromAColdCacheToo(double megabytes) {
        assertThat(Comparison.of(new Setting(1.1, megabytes, 0), SEED).gain()).isPositive();
    }

    @Test
    void oneSeedGivesOneResult() {
        Setting setting = new Setting(1.1, 10, 100);
        assertThat(Comparison.of(setting, SEED)).isEqualTo(Comparison.of(setting, SEED));
    }

    /** How long they take is for a person to judge, on a machine that does nothing else. */
    @Test
    void plansAreTimed() {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        PlanningTime.print(new HullPlanner(), 1_000, SEED, new PrintStream(out, true, UTF_8));
        assertThat(out.toString(UTF_8).lines())
                .hasSize(5)
                .allMatch(
                        line -> line.matches("plan [1-5] of 1,000 objects: .* s, [1-9]\\d* of .*"));
    }
}

package org.globalfs.jepsen;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is asked again of an agent that answers as it is told to, then well. */
class PatienceTest {
    private static final String EIO = "{\"type\":\"info\",\"error\":\"EIO\"}";
    private static final String GONE = "{\"type\":\"info\",\"error\":\"ENOTCONN\"}";
    private static final String WELL = "{\"type\":\"ok\",\"value\":\"a sum\"}";

    private final AtomicInteger asked = new AtomicInteger();
    private final AtomicLong clock = new AtomicLong();

    @TempDir private Path folder;

    private volatile List<String> answers = List.of();
    private final ServerSocket agent;

    PatienceTest() throws IOException {
        agent = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
    }

    @BeforeEach
    void listens() {
        Thread.ofVirtual().start(this::serve);
    }

    @AfterEach
    void ends() throws IOException {
        agent.close();
    }

    private void serve() {
        try {
            serveOne();
        } catch (SocketException e) {
            // the test is over
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void serveOne() throws IOException {
        try (Socket client = agent.accept();
                BufferedReader requests =
                        new BufferedReader(
                                new InputStreamReader(
                                        client.getInputStream(), StandardCharsets.UTF_8));
                OutputStream out = client.getOutputStream()) {
            while (requests.readLine() != null) {
                int before = asked.getAndIncrement();
                String answer = before < answers.size() ? answers.get(before) : WELL;
                out.write((answer + "\n").getBytes(StandardCharsets.UTF_8));
            }
        }
    }

    private Outcome outcome(Step step) throws IOException {
        return answer(step).outcome();
    }

    private Answer answer(Step step) throws IOException {
        try (AgentClient client =
                new AgentClient((InetSocketAddress) agent.getLocalSocketAddress())) {
            return RecordedRun.ask(client, step, clock::incrementAndGet);
        }
    }

    private static Step reading() {
        return Step.read("read", null, Map.of("f", "content.read"));
    }

    @Test
    void contentThatCannotBeReadIsAskedForAgain() throws IOException {
        answers = List.of(EIO, EIO);
        assertThat(outcome(reading().patiently())).isEqualTo(new Outcome("ok", "a sum", null));
        assertThat(asked).hasValue(3);
    }

    @Test
    void eachTryThatFailedIsTold() throws IOException {
        answers = List.of(EIO, EIO);
        List<Long> refused = answer(reading().patiently()).refused();
        assertThat(refused).hasSize(4).isSorted();
        answers = List.of();
        Path file = folder.resolve("history.edn");
        try (Recording recording = new Recording(file)) {
            recording.invoke(1, "us-west", reading(), 9);
            Outcome well = new Outcome("ok", "a sum", null);
            recording.complete(1, "us-west", reading(), new Answer(well, List.of(5L, 7L)));
        }
        assertThat(Files.readString(file)).contains(", :refused [5 7], :node \"us-west\"}");
    }

    @Test
    void clientsGoOnForAFaultThatTakesLongToBeReady() {
        assertThat(RecordedRun.goesOn(-1, false)).isTrue();
        assertThat(RecordedRun.goesOn(1, false)).isFalse();
        assertThat(RecordedRun.goesOn(30_000_000_000L, true)).isTrue();
        assertThat(RecordedRun.goesOn(100_000_000_000L, true)).isFalse();
    }

    /** What is written only at the beginning meets no fault. */
    @Test
    void largeFilesAreNotAllWrittenAtOnce() {
        Random random = new Random(1);
        Workload large = Workloads.large("l");
        long writes =
                Stream.generate(() -> large.next(1, random))
                        .limit(20)
                        .filter(step -> step.f().equals("write"))
                        .count();
        assertThat(writes).isBetween(1L, 6L);
    }

    @Test
    void otherFailuresAreNot() throws IOException {
        answers = List.of(GONE);
        assertThat(outcome(reading().patiently()).error()).isEqualTo("ENOTCONN");
        assertThat(asked).hasValue(1);
    }

    @Test
    void otherOperationsAreNot() throws IOException {
        answers = List.of(EIO);
        assertThat(outcome(reading()).error()).isEqualTo("EIO");
        assertThat(asked).hasValue(1);
    }

    @Test
    void readsOfContentAreThosePatientOnes() {
        for (Workload workload :
                List.of(Workloads.content("c"), Workloads.large("l"), Workloads.globalLarge("g"))) {
            Step write = workload.next(1, new Random(1));
            assertThat(write.patient()).isFalse();
            assertThat(write.answerMs()).isGreaterThan(60_000);
            assertThat(workload.last()).isNotEmpty().allMatch(Step::patient);
        }
        assertThat(Workloads.counter("c").last()).noneMatch(Step::patient);
    }
}

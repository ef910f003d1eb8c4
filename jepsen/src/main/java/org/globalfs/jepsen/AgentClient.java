package org.globalfs.jepsen;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.stream.Collectors;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;

/** A connection to an agent, and a client there. Used by one thread. */
final class AgentClient implements AutoCloseable {
    private static final int CONNECT_MS = 10_000;

    private final Socket socket = new Socket();
    private final BufferedReader answers;
    private final OutputStream requests;

    AgentClient(InetSocketAddress address) throws IOException {
        socket.connect(address, CONNECT_MS);
        answers =
                new BufferedReader(
                        new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
        requests = socket.getOutputStream();
    }

    /** The outcome; without an answer in time it is unknown, and the client is of no more use. */
    Outcome ask(Map<String, Object> request, int timeoutMs) {
        try {
            socket.setSoTimeout(timeoutMs);
            requests.write((json(request) + "\n").getBytes(StandardCharsets.UTF_8));
            requests.flush();
            String line = answers.readLine();
            return line == null ? Outcome.unknown("the agent is gone") : parse(line);
        } catch (IOException e) {
            return Outcome.unknown(String.valueOf(e.getMessage()));
        }
    }

    private static Outcome parse(String line) {
        Map<?, ?> answer =
                (Map<?, ?>) new Load(LoadSettings.builder().build()).loadFromString(line);
        String type = String.valueOf(answer.get("type"));
        Object error = answer.get("error");
        if (type.equals("bad")) {
            throw new IllegalStateException("the agent does not understand: " + error);
        }
        return new Outcome(type, answer.get("value"), error == null ? null : String.valueOf(error));
    }

    private static String json(Map<String, Object> request) {
        return request.entrySet().stream()
                .map(field -> '"' + field.getKey() + "\":" + json(field.getValue()))
                .collect(Collectors.joining(",", "{", "}"));
    }

    private static String json(Object value) {
        return value instanceof Number ? value.toString() : '"' + value.toString() + '"';
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}

package org.globalfs.jepsen;

import java.io.BufferedReader;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** The agent of one mount, a process of its own. */
final class Agent implements AutoCloseable {
    private final String region;
    private final Process process;
    private final InetSocketAddress address;

    private Agent(String region, Process process, InetSocketAddress address) {
        this.region = region;
        this.process = process;
        this.address = address;
    }

    /** Starts the program on a region's mount; returns once it listens. */
    static Agent start(Path program, String region, Path mount) throws IOException {
        Process process =
                new ProcessBuilder(List.of(program.toString(), "-mount", mount.toString()))
                        .redirectError(ProcessBuilder.Redirect.INHERIT)
                        .start();
        BufferedReader output = process.inputReader(StandardCharsets.UTF_8);
        String line = output.readLine();
        if (line == null || !line.startsWith("listening ")) {
            process.destroyForcibly();
            throw new IOException("the agent of " + mount + " does not listen: " + line);
        }
        String at = line.substring("listening ".length());
        int colon = at.lastIndexOf(':');
        return new Agent(
                region,
                process,
                new InetSocketAddress(
                        at.substring(0, colon), Integer.parseInt(at.substring(colon + 1))));
    }

    String region() {
        return region;
    }

    /** A client of its own. */
    AgentClient connect() throws IOException {
        return new AgentClient(address);
    }

    @Override
    public void close() throws IOException {
        process.getOutputStream().close();
        try {
            if (!process.waitFor(5, TimeUnit.SECONDS)) {
                process.destroyForcibly();
            }
        } catch (InterruptedException e) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
        }
    }
}

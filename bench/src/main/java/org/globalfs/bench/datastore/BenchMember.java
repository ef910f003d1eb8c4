package org.globalfs.bench.datastore;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.globalfs.bench.BenchFailure;

/** What a child process of the benchmark is, and how it is talked to. */
interface BenchMember extends AutoCloseable {

    /** Does what a line of the benchmark's asks for. */
    String answer(String[] words) throws IOException;

    @Override
    void close() throws IOException;

    /**
     * Until the benchmark says "exit" or has gone: each line in is a command, answered by one line
     * that begins with "ok" or "error".
     */
    default void serve(InputStream in, PrintStream out) throws IOException {
        out.println("ok ready");
        BufferedReader lines =
                new BufferedReader(new InputStreamReader(in, StandardCharsets.UTF_8));
        for (String line = lines.readLine();
                line != null && !line.equals("exit");
                line = lines.readLine()) {
            String answer;
            try {
                answer = "ok " + answer(line.split(" "));
            } catch (IOException | BenchFailure e) {
                answer = "error " + e;
            }
            out.println(answer);
            out.flush();
        }
    }
}

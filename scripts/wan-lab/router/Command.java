import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** Programs that this one runs and waits for. */
final class Command {
    private Command() {}

    static String run(String... command) throws IOException, InterruptedException {
        return run(List.of(command), "");
    }

    /**
     * @return what it printed
     * @throws IOException with what it printed, where it failed
     */
    static String run(List<String> command, String input) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        // These read all of their input before they print anything to speak of.
        try (var in = process.getOutputStream()) {
            in.write(input.getBytes(StandardCharsets.UTF_8));
        }
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        if (process.waitFor() != 0) {
            throw new IOException(String.join(" ", command) + ": " + output.strip());
        }
        return output;
    }
}

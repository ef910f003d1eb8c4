import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/** A lab's process: makes its regions, has a router carry their packets, and takes commands. */
final class WanRouter {
    private WanRouter() {}

    /**
     * Arguments: user, netem or auto, the configuration, the prefix of the namespaces, the file to
     * write the port to.
     */
    public static void main(String[] arguments) throws InterruptedException {
        try {
            Router router = router(arguments[0], arguments[2]);
            Lab lab = new Lab(Path.of(arguments[1]), router);
            router.start(lab);
            serve(lab, Path.of(arguments[3]));
        } catch (Lab.Mistake | IOException e) {
            System.err.println(e.getMessage());
            System.exit(1);
        }
    }

    private static Router router(String wanted, String prefix)
            throws IOException, InterruptedException {
        if (wanted.equals("user")) {
            return new UserRouter(prefix);
        }
        Optional<String> missing = Netem.missing(prefix);
        if (missing.isEmpty()) {
            return new Netem(prefix);
        }
        String message = "this kernel's netem cannot be used: " + missing.get();
        if (wanted.equals("netem")) {
            throw new IOException("WAN_LAB_ROUTER=netem, but " + message);
        }
        System.err.println("a router in user space, because " + message);
        return new UserRouter(prefix);
    }

    /** Commands come over loopback, a line a connection. */
    private static void serve(Lab lab, Path portFile) throws IOException, InterruptedException {
        try (ServerSocket server = new ServerSocket(0, 8, InetAddress.getLoopbackAddress())) {
            Path written =
                    Files.writeString(Path.of(portFile + ".new"), server.getLocalPort() + "\n");
            Files.move(written, portFile);
            while (true) {
                try (Socket client = server.accept()) {
                    client.setSoTimeout(2000);
                    BufferedReader lines =
                            new BufferedReader(
                                    new InputStreamReader(
                                            client.getInputStream(), StandardCharsets.UTF_8));
                    String line = lines.readLine();
                    OutputStream out = client.getOutputStream();
                    out.write(
                            lab.answer(line == null ? "" : line).getBytes(StandardCharsets.UTF_8));
                } catch (IOException e) {
                    System.err.println("control connection: " + e.getMessage());
                }
            }
        }
    }
}

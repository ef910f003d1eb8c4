package org.globalfs.datastore.s3;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.IOException;
import java.io.InputStream;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.globalfs.protocol.Folders;
import org.globalfs.protocol.FreePorts;

/**
 * A real S3 server, S3Proxy, in a process of its own: buckets are folders, objects are files in
 * them, requests must be signed.
 */
public final class S3Server implements AutoCloseable {
    public static final String ACCESS_KEY = "test-access";
    public static final String SECRET_KEY = "test-secret";

    private final Path folder;
    private final int port;
    private Process process;

    /** Starts one whose buckets are in the folder. */
    public S3Server(Path folder, String... buckets) throws IOException {
        this.folder = folder;
        for (String bucket : buckets) {
            Files.createDirectories(bucket(bucket));
        }
        port = FreePorts.one();
        Files.writeString(
                folder.resolve("s3proxy.properties"),
                """
                s3proxy.authorization=aws-v2-or-v4
                s3proxy.endpoint=http://127.0.0.1:%d
                s3proxy.identity=%s
                s3proxy.credential=%s
                jclouds.provider=filesystem-nio2
                jclouds.filesystem.basedir=%s
                """
                        .formatted(port, ACCESS_KEY, SECRET_KEY, folder.resolve("buckets")));
        Files.writeString(
                folder.resolve("logback.xml"),
                "<configuration><root level=\"OFF\"/></configuration>");
        start();
    }

    /** Starts it again, where it was. */
    public void start() throws IOException {
        process =
                new ProcessBuilder(
                                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                                "-Xmx256m",
                                "-XX:+UseSerialGC",
                                "-XX:TieredStopAtLevel=1",
                                "-Dlogback.configurationFile=" + folder.resolve("logback.xml"),
                                "-cp",
                                System.getProperty("java.class.path"),
                                "org.gaul.s3proxy.Main",
                                "--properties",
                                folder.resolve("s3proxy.properties").toString())
                        .redirectErrorStream(true)
                        .redirectOutput(folder.resolve("s3proxy.log").toFile())
                        .start();
        Awaitility.await("S3Proxy at " + endpoint())
                .atMost(60, TimeUnit.SECONDS)
                .until(this::serves);
    }

    private boolean serves() throws IOException {
        if (!process.isAlive()) {
            throw new IOException(
                    "S3Proxy ended: " + Files.readString(folder.resolve("s3proxy.log")));
        }
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            socket.setSoTimeout(5_000);
            socket.getOutputStream().write("GET / HTTP/1.0\r\n\r\n".getBytes(US_ASCII));
            InputStream answer = socket.getInputStream();
            return answer.read() == 'H';
        } catch (ConnectException | SocketTimeoutException e) {
            return false;
        }
    }

    public String endpoint() {
        return "http://127.0.0.1:" + port;
    }

    /** kill -9. */
    public void kill() {
        process.destroyForcibly().onExit().join();
    }

    /** It keeps its connections and answers none, until it is told to go on. */
    void signal(String name) throws IOException, InterruptedException {
        new ProcessBuilder("kill", "-" + name, Long.toString(process.pid())).start().waitFor();
    }

    /** The folder that a bucket is. */
    public Path bucket(String name) {
        return folder.resolve("buckets").resolve(name);
    }

    /** What a bucket holds, in order. What goes away while it is looked at may be left out. */
    public List<Path> objects(String bucket) throws IOException {
        return Folders.files(bucket(bucket), file -> true);
    }

    @Override
    public void close() {
        kill();
    }
}

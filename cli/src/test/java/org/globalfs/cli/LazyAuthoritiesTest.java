package org.globalfs.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.util.List;
import javax.net.ssl.HttpsURLConnection;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLHandshakeException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Before a real server, whose certificate is its own authority. */
class LazyAuthoritiesTest {
    private static final String STORE = "javax.net.ssl.trustStore";
    private static final String STORE_PASSWORD = "javax.net.ssl.trustStorePassword";
    private static final char[] PASSWORD = "changeit".toCharArray();

    @TempDir Path folder;

    private Path authorities;
    private HttpsServer server;

    @BeforeEach
    void start() throws Exception {
        authorities = folder.resolve("authorities.p12");
        Path keys = folder.resolve("keys.p12");
        Path keytool = Path.of(System.getProperty("java.home"), "bin", "keytool");
        List<String> line =
                List.of(
                        keytool.toString(),
                        "-genkeypair",
                        "-keyalg",
                        "EC",
                        "-alias",
                        "server",
                        "-dname",
                        "CN=localhost",
                        "-ext",
                        "SAN=dns:localhost",
                        "-ext",
                        "BC=ca:true",
                        "-keystore",
                        keys.toString(),
                        "-storepass",
                        new String(PASSWORD));
        Process made = new ProcessBuilder(line).redirectErrorStream(true).start();
        String said = new String(made.getInputStream().readAllBytes(), UTF_8);
        assertThat(made.waitFor()).as(said).isZero();
        KeyStore store = KeyStore.getInstance("PKCS12");
        try (InputStream in = Files.newInputStream(keys)) {
            store.load(in, PASSWORD);
        }
        KeyStore trust = KeyStore.getInstance("PKCS12");
        trust.load(null, PASSWORD);
        trust.setCertificateEntry("server", store.getCertificate("server"));
        try (OutputStream out = Files.newOutputStream(authorities)) {
            trust.store(out, PASSWORD);
        }
        KeyManagerFactory managers =
                KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        managers.init(store, PASSWORD);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(managers.getKeyManagers(), null, null);
        server = HttpsServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setHttpsConfigurator(new HttpsConfigurator(context));
        server.createContext(
                "/",
                exchange -> {
                    exchange.sendResponseHeaders(200, -1);
                    exchange.close();
                });
        server.start();
    }

    @AfterEach
    void stop() {
        server.stop(0);
        clear();
    }

    private static void clear() {
        System.clearProperty(STORE);
        System.clearProperty(STORE_PASSWORD);
    }

    private int get(SSLContext context) throws IOException {
        HttpsURLConnection connection =
                (HttpsURLConnection)
                        URI.create("https://localhost:" + server.getAddress().getPort())
                                .toURL()
                                .openConnection();
        connection.setSSLSocketFactory(context.getSocketFactory());
        return connection.getResponseCode();
    }

    @Test
    void trustsNobodyWhomTheJvmDoesNotTrust() throws Exception {
        SSLContext context = LazyAuthorities.context();
        assertThatThrownBy(() -> get(context)).isInstanceOf(SSLHandshakeException.class);
    }

    @Test
    void readsTheAuthoritiesWithTheFirstCertificate() throws Exception {
        SSLContext context = LazyAuthorities.context();
        System.setProperty(STORE, authorities.toString());
        System.setProperty(STORE_PASSWORD, new String(PASSWORD));
        assertThat(get(context)).isEqualTo(200);
        clear();
        assertThat(get(context)).as("once").isEqualTo(200);
    }
}

package org.globalfs.cli;

import java.net.Socket;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509ExtendedTrustManager;
import org.jspecify.annotations.Nullable;

/**
 * Trusts the same certificate authorities as the JVM does, and reads them when it first meets a
 * certificate. ZooKeeper's client asks for the JVM's TLS context whether or not it uses TLS, and
 * the JVM's own reads all authorities at once, which costs each process 0.1 s of processor time.
 * Thread-safe.
 */
final class LazyAuthorities extends X509ExtendedTrustManager {
    private static final String CLIENT_KEY = "javax.net.ssl.keyStore";

    private @Nullable X509ExtendedTrustManager authorities;

    private LazyAuthorities() {}

    /** For the JVM's TLS context, unless that has a key of its own. */
    static void install() {
        if (System.getProperty(CLIENT_KEY) != null) {
            return;
        }
        try {
            SSLContext.setDefault(context());
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("this JVM has no TLS", e);
        }
    }

    static SSLContext context() throws GeneralSecurityException {
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(null, new TrustManager[] {new LazyAuthorities()}, null);
        return context;
    }

    private synchronized X509ExtendedTrustManager authorities() throws CertificateException {
        if (authorities == null) {
            authorities = read();
        }
        return authorities;
    }

    private static X509ExtendedTrustManager read() throws CertificateException {
        try {
            TrustManagerFactory factory =
                    TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
            factory.init((KeyStore) null);
            for (TrustManager each : factory.getTrustManagers()) {
                if (each instanceof X509ExtendedTrustManager found) {
                    return found;
                }
            }
        } catch (GeneralSecurityException e) {
            throw new CertificateException("the certificate authorities cannot be read", e);
        }
        throw new CertificateException("this JVM knows no certificate authorities");
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String authType)
            throws CertificateException {
        authorities().checkClientTrusted(chain, authType);
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String authType, Socket socket)
            throws CertificateException {
        authorities().checkClientTrusted(chain, authType, socket);
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String authType, SSLEngine engine)
            throws CertificateException {
        authorities().checkClientTrusted(chain, authType, engine);
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String authType)
            throws CertificateException {
        authorities().checkServerTrusted(chain, authType);
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String authType, Socket socket)
            throws CertificateException {
        authorities().checkServerTrusted(chain, authType, socket);
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String authType, SSLEngine engine)
            throws CertificateException {
        authorities().checkServerTrusted(chain, authType, engine);
    }

    /** Only a server that asks for clients' certificates tells them; this program is none. */
    @Override
    public X509Certificate[] getAcceptedIssuers() {
        return new X509Certificate[0];
    }
}

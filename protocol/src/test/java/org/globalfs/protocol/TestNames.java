package org.globalfs.protocol;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.net.spi.InetAddressResolver;
import java.net.spi.InetAddressResolverProvider;
import java.security.Security;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

/** The system's lookup, but for names that end in {@value #SUFFIX}: loopback's, or silent ones. */
public final class TestNames extends InetAddressResolverProvider {

    static final String SUFFIX = ".names.test";

    static {
        // What the JVM remembers would never be looked up again.
        Security.setProperty("networkaddress.cache.ttl", "0");
    }

    private static final Set<String> SILENT = ConcurrentHashMap.newKeySet();

    private static volatile boolean onVirtualThread;

    /** Whether one of these names was looked up on a virtual thread. */
    static boolean wereOnVirtualThread() {
        return onVirtualThread;
    }

    /** From now on whoever asks for it gets no answer. */
    public static void silence(String name) {
        SILENT.add(name);
    }

    @Override
    public InetAddressResolver get(Configuration configuration) {
        InetAddressResolver system = configuration.builtinResolver();
        return new InetAddressResolver() {
            @Override
            public Stream<InetAddress> lookupByName(String host, LookupPolicy policy)
                    throws UnknownHostException {
                if (!host.endsWith(SUFFIX)) {
                    return system.lookupByName(host, policy);
                }
                onVirtualThread |= Thread.currentThread().isVirtual();
                while (SILENT.contains(host)) {
                    LockSupport.park(SILENT);
                }
                return Stream.of(
                        InetAddress.getByAddress(
                                host, InetAddress.getLoopbackAddress().getAddress()));
            }

            @Override
            public String lookupByAddress(byte[] address) throws UnknownHostException {
                return system.lookupByAddress(address);
            }
        };
    }

    @Override
    public String name() {
        return "test names";
    }
}

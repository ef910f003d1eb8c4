package org.globalfs.systemtests;

import java.io.IOException;
import java.io.UncheckedIOException;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/**
 * Gives test classes that leave a cluster's processes and configuration as they found them one
 * cluster to work in, each in folders of its own: started by the first that asks, stopped after the
 * last test of all.
 */
final class SharedCluster implements ParameterResolver {

    private static final ExtensionContext.Namespace HERE =
            ExtensionContext.Namespace.create(SharedCluster.class);

    /** Closed by JUnit with its root store. */
    private record Started(LocalCluster cluster) implements AutoCloseable {
        @Override
        public void close() throws IOException {
            cluster.close();
        }
    }

    @Override
    public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
        return parameter.getParameter().getType() == LocalCluster.class;
    }

    @Override
    public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
        return context.getRoot()
                .getStore(HERE)
                .computeIfAbsent("cluster", key -> new Started(start()), Started.class)
                .cluster();
    }

    private static LocalCluster start() {
        try {
            return LocalCluster.start("shared");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}

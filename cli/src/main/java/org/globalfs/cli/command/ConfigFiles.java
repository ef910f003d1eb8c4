package org.globalfs.cli.command;

import java.nio.file.Path;
import org.globalfs.protocol.config.ClientConfig;
import org.globalfs.protocol.config.ConfigException;
import org.globalfs.protocol.config.ServerConfig;

/** Reads the file that a command is given; one of the other kind is called that. */
final class ConfigFiles {

    private ConfigFiles() {}

    static ServerConfig server(Path file) throws ConfigException {
        try {
            return ServerConfig.read(file);
        } catch (ConfigException e) {
            throw isRead(() -> ClientConfig.read(file))
                    ? new ConfigException(file + ": is a mount's file: give a server's", e)
                    : e;
        }
    }

    static ClientConfig client(Path file) throws ConfigException {
        try {
            return ClientConfig.read(file);
        } catch (ConfigException e) {
            throw isRead(() -> ServerConfig.read(file))
                    ? new ConfigException(file + ": is a server's file: give a mount's", e)
                    : e;
        }
    }

    private interface Reading {
        Object read() throws ConfigException;
    }

    private static boolean isRead(Reading reading) {
        try {
            var _ = reading.read();
            return true;
        } catch (ConfigException e) {
            return false;
        }
    }
}

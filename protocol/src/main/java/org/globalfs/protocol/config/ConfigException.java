package org.globalfs.protocol.config;

/** A configuration that cannot be used; the message names the file, the key and the remedy. */
public final class ConfigException extends Exception {
    private static final long serialVersionUID = 1;

    public ConfigException(String message) {
        super(message);
    }

    public ConfigException(String message, Throwable cause) {
        super(message, cause);
    }
}

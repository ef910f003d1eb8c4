package org.globalfs.cli;

/** The entry point of the {@code globalfs} program. */
public final class Main {
    private Main() {}

    public static void main(String[] args) {
        System.exit(0);
    }
}

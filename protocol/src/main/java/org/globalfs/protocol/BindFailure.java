package org.globalfs.protocol;

import java.net.BindException;

/**
 * Why a port cannot be listened at. The JDK throws the same exception whatever the reason is, which
 * only the system's text tells, in English wherever this program runs.
 */
public final class BindFailure {

    private BindFailure() {}

    /** Whether it is the user who may not, whoever else uses the port. */
    public static boolean isDenied(BindException e) {
        return String.valueOf(e.getMessage()).contains("Permission denied");
    }

    /** What the operator can do. */
    public static String mend(BindException e) {
        return isDenied(e)
                ? "this user may not listen there, as ports below 1024 are root's: choose a higher"
                        + " port, or give the process CAP_NET_BIND_SERVICE"
                : "the port is busy: end what uses it, or choose another one";
    }
}

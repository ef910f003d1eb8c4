package org.globalfs.cli.command;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.globalfs.cli.ExitCode;
import org.globalfs.cli.Failure;
import org.globalfs.client.fuse.MountOptions;
import org.globalfs.protocol.config.ClientConfig;

/**
 * Options as mount(8) gives them, {@code -o ro,allow_other,…}, over those of the client's file; of
 * two that contradict each other the later one holds.
 *
 * @param sync every write is durable before it returns
 */
record MountFlags(MountOptions options, boolean sync, Binding binding) {

    /** Of one file: what a program that reads in order keeps in the kernel's memory at a time. */
    private static final int MOST_READ_AHEAD_KB = 64 << 10;

    /** What mount(8), fstab and systemd say to each other, or what is always so here. */
    private static final Set<String> IGNORED =
            Set.of(
                    "defaults",
                    "auto",
                    "noauto",
                    "nofail",
                    "fail",
                    "user",
                    "users",
                    "nouser",
                    "owner",
                    "group",
                    "_netdev",
                    "async",
                    "atime",
                    "noatime",
                    "relatime",
                    "norelatime",
                    "strictatime",
                    "diratime",
                    "nodiratime",
                    "lazytime",
                    "nolazytime",
                    "default_permissions",
                    "mand",
                    "nomand",
                    "silent",
                    "loud");

    static MountFlags of(ClientConfig client, List<String> flags, boolean trace) throws Failure {
        ClientConfig.Mount wanted = client.mount();
        MountOptions options =
                MountOptions.defaults()
                        .withSource("globalfs-" + client.cluster())
                        .withReaders(wanted.threads())
                        .withRequestTimeout(Duration.ofMillis(wanted.requestTimeoutMs()))
                        .withSlowOperation(Duration.ofMillis(wanted.slowOperationMs()))
                        .withReadOnly(wanted.readOnly())
                        .withAllowSetId(wanted.setId())
                        .withAllowDevices(wanted.devices())
                        .withTrace(trace)
                        .withExplicitInvalidation(true);
        MountFlags result =
                new MountFlags(
                        wanted.allowOther() ? options.withAllowOther(true) : options,
                        wanted.sync(),
                        Binding.DIRECT);
        for (String flag : flags) {
            result = result.with(flag);
        }
        return result;
    }

    private MountFlags with(String flag) throws Failure {
        int equals = flag.indexOf('=');
        String name = equals < 0 ? flag : flag.substring(0, equals);
        String value = equals < 0 ? "" : flag.substring(equals + 1);
        return switch (name) {
            case "ro" -> changed(options.withReadOnly(true));
            case "allow_other" -> changed(options.withAllowOther(true));
            case "rw" -> changed(options.withReadOnly(false));
            case "suid" -> changed(options.withAllowSetId(true));
            case "nosuid" -> changed(options.withAllowSetId(false));
            case "dev" -> changed(options.withAllowDevices(true));
            case "nodev" -> changed(options.withAllowDevices(false));
            case "exec" -> changed(options.withAllowExec(true));
            case "noexec" -> changed(options.withAllowExec(false));
            case "trace" -> changed(options.withTrace(true));
            case "sync" -> new MountFlags(options, true, binding);
            case "binding" -> new MountFlags(options, sync, Binding.of(value));
            case "threads" -> changed(options.withReaders((int) number(name, value, 1, 64)));
            case "request_timeout" ->
                    changed(
                            options.withRequestTimeout(
                                    Duration.ofSeconds(number(name, value, 1, 86_400))));
            case "slow_operation_ms" ->
                    changed(
                            options.withSlowOperation(
                                    Duration.ofMillis(number(name, value, 0, 86_400_000))));
            case "read_ahead_kb" ->
                    changed(
                            options.withReadAheadKb(
                                    (int) number(name, value, 0, MOST_READ_AHEAD_KB)));
            case "remount" ->
                    throw new Failure(
                            ExitCode.USAGE,
                            "mount option 'remount': what the kernel alone goes by (ro, noexec and the"
                                    + " like) 'mount -o remount,...' of mount(8) changes; for all"
                                    + " else unmount it and mount it again");
            default -> {
                if (IGNORED.contains(name) || name.startsWith("x-") || name.equals("comment")) {
                    yield this;
                }
                throw new Failure(
                        ExitCode.USAGE,
                        "mount option '"
                                + flag
                                + "' is unknown: there are ro, rw, allow_other, suid, nosuid, dev,"
                                + " nodev, exec, noexec, sync, trace, threads=N, request_timeout=SECONDS,"
                                + " slow_operation_ms=MS, read_ahead_kb=KB, binding=direct|jnr");
            }
        };
    }

    /** The client's configuration, with what options say of more than the mount itself. */
    ClientConfig over(ClientConfig client) {
        return client.with(sync, options.requestTimeout().toMillis());
    }

    private MountFlags changed(MountOptions changed) {
        return new MountFlags(changed, sync, binding);
    }

    private static long number(String name, String value, long least, long most) throws Failure {
        try {
            long number = Long.parseLong(value);
            if (number >= least && number <= most) {
                return number;
            }
        } catch (NumberFormatException e) {
            // said below, with what would be right
        }
        throw new Failure(
                ExitCode.USAGE,
                "mount option "
                        + name
                        + "='"
                        + value
                        + "': give a number from "
                        + least
                        + " to "
                        + most);
    }
}

package org.globalfs.bench.multicast.member;

import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.globalfs.protocol.Dissemination;

/**
 * How a member is started.
 *
 * @param system what is measured
 * @param self this member, from 1
 * @param addresses of all members
 * @param folder where the log is
 * @param dissemination how values spread (GlobalFS only)
 * @param firstRing number of the ring that carries the load
 * @param rings how many rings the members share
 * @param keepsLog whether everything delivered stays in the log and is recorded, to be checked
 */
public record MemberOptions(
        String system,
        int self,
        Map<Integer, InetSocketAddress> addresses,
        Path folder,
        Dissemination dissemination,
        boolean durable,
        int firstRing,
        int rings,
        boolean keepsLog) {

    public MemberOptions {
        addresses = Map.copyOf(addresses);
    }

    InetSocketAddress address() {
        return Objects.requireNonNull(addresses.get(self));
    }

    /** The program's arguments that {@link MemberCommand} understands. */
    public List<String> arguments() {
        List<String> arguments = new ArrayList<>();
        arguments.add(MemberCommand.NAME);
        arguments.add("--system=" + system);
        arguments.add("--self=" + self);
        new TreeMap<>(addresses)
                .forEach((member, address) ->
                        arguments.add(
                                "--member="
                                        + member
                                        + "="
                                        + address.getHostString()
                                        + ":"
                                        + address.getPort()));
        arguments.add("--folder=" + folder);
        arguments.add("--dissemination=" + dissemination);
        arguments.add("--durable=" + durable);
        arguments.add("--first-ring=" + firstRing);
        arguments.add("--rings=" + rings);
        arguments.add("--keeps-log=" + keepsLog);
        return arguments;
    }
}

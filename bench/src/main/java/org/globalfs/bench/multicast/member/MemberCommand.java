package org.globalfs.bench.multicast.member;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import org.globalfs.protocol.Dissemination;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** The hidden command that a member's process runs. */
@Command(name = MemberCommand.NAME, hidden = true, description = "One member of a measured ring.")
public final class MemberCommand implements Callable<Integer> {
    static final String NAME = "multicast-member";

    @Option(names = "--system", required = true)
    private String system = "";

    @Option(names = "--self", required = true)
    private int self;

    @Option(names = "--member", required = true)
    private Map<Integer, String> members = new TreeMap<>();

    @Option(names = "--folder", required = true)
    private Path folder = Path.of("");

    @Option(names = "--dissemination", required = true)
    private Dissemination dissemination = Dissemination.STAR;

    @Option(names = "--durable", arity = "1", required = true)
    private boolean durable;

    @Option(names = "--first-ring", required = true)
    private int firstRing;

    @Option(names = "--rings", required = true)
    private int rings;

    @Option(names = "--keeps-log", arity = "1", required = true)
    private boolean keepsLog;

    @Override
    public Integer call() throws IOException {
        Map<Integer, InetSocketAddress> addresses = new TreeMap<>();
        members.forEach((member, address) -> {
            int colon = address.lastIndexOf(':');
            addresses.put(
                    member,
                    new InetSocketAddress(
                            address.substring(0, colon),
                            Integer.parseInt(address.substring(colon + 1))));
        });
        MemberOptions options =
                new MemberOptions(
                        system,
                        self,
                        addresses,
                        folder,
                        dissemination,
                        durable,
                        firstRing,
                        rings,
                        keepsLog);
        try (Member member = new Member(options)) {
            member.serve(System.in, System.out);
        }
        return 0;
    }
}

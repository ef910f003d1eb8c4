package org.globalfs.bench.datastore;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import org.globalfs.bench.BenchFailure;
import org.globalfs.bench.BenchMain;
import org.globalfs.bench.lab.JavaCommand;
import org.globalfs.bench.lab.MemberProcess;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** The hidden command that the benchmark's child processes run. */
@Command(
        name = DatastoreMemberCommand.NAME,
        hidden = true,
        description = "One process of the measured datastore.")
public final class DatastoreMemberCommand implements Callable<Integer> {
    static final String NAME = "datastore-member";

    /** What a process is. */
    enum Kind {
        CODER,
        STORAGE,
        CACHE,
        CLIENTS
    }

    @Option(names = "--kind", required = true)
    private Kind kind = Kind.CODER;

    @Option(names = "--isal")
    private String isal = "";

    @Option(names = "--zookeeper")
    private String zookeeper = "";

    @Option(names = "--id")
    private String id = "";

    @Option(names = "--datacenter")
    private String datacenter = "";

    @Option(names = "--folder")
    private Path folder = Path.of("");

    @Option(names = "--repairs", arity = "1")
    private boolean repairs;

    /** Starts this command in a process of its own. */
    static MemberProcess start(
            String name, Path folder, List<String> javaOptions, List<String> arguments) {
        List<String> command = JavaCommand.with(javaOptions);
        command.addAll(
                List.of("-cp", System.getProperty("java.class.path"), BenchMain.class.getName()));
        command.add(NAME);
        command.addAll(arguments);
        return new MemberProcess(name, command, folder.resolve(name + ".log"));
    }

    @Override
    public Integer call() throws IOException {
        try (BenchMember member = member()) {
            member.serve(System.in, System.out);
        } catch (RuntimeException e) {
            throw new BenchFailure(kind + " member", e);
        }
        return 0;
    }

    private BenchMember member() throws IOException {
        return switch (kind) {
            case CODER -> new CoderMember(isal);
            case STORAGE -> NodeMember.storage(zookeeper, id, datacenter, folder, repairs);
            case CACHE -> NodeMember.cache(zookeeper, id, folder);
            case CLIENTS -> new ClientsMember(zookeeper);
        };
    }
}

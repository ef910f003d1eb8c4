package org.globalfs.replica.state;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.globalfs.protocol.Errno;
import org.globalfs.protocol.wire.AdoptQuotaOp;
import org.globalfs.protocol.wire.AllocateOp;
import org.globalfs.protocol.wire.Attributes;
import org.globalfs.protocol.wire.BlockRef;
import org.globalfs.protocol.wire.CollectOrphansOp;
import org.globalfs.protocol.wire.Command;
import org.globalfs.protocol.wire.CopyRangeOp;
import org.globalfs.protocol.wire.CreateOp;
import org.globalfs.protocol.wire.DirectoryEntry;
import org.globalfs.protocol.wire.Extent;
import org.globalfs.protocol.wire.GetAttributesOp;
import org.globalfs.protocol.wire.LinkOp;
import org.globalfs.protocol.wire.MoveOp;
import org.globalfs.protocol.wire.Quota;
import org.globalfs.protocol.wire.QuotaOp;
import org.globalfs.protocol.wire.ReadDirectoryOp;
import org.globalfs.protocol.wire.ReadOp;
import org.globalfs.protocol.wire.RenameOp;
import org.globalfs.protocol.wire.SetAttributesOp;
import org.globalfs.protocol.wire.SetQuotaOp;
import org.globalfs.protocol.wire.SetXattrOp;
import org.globalfs.protocol.wire.Status;
import org.globalfs.protocol.wire.UnlinkOp;
import org.globalfs.protocol.wire.UpdateOp;
import org.globalfs.protocol.wire.UpdateReply;
import org.globalfs.protocol.wire.WriteOp;
import org.globalfs.replica.state.model.Mode;
import org.globalfs.replica.state.model.Partitions;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Random operations in the trees of two regions and of partition 0, whose quotas come and go, and
 * move, counted a bit at a time, and between those trees: usage is what a walk through each quota's
 * partition finds, what was granted kept within the limits, what was refused for want of room
 * changed nothing. Coordinated operations are under way meanwhile. {@code
 * -Dglobalfs.quotas.seeds=N} runs so many more seeds.
 */
final class RandomQuotasTest {

    private static final int REGIONS = 2;
    private static final int NAMES = 5;
    private static final int MORE_SEEDS = Integer.getInteger("globalfs.quotas.seeds", 0);
    private static final long FIRST_OF_MORE = Long.getLong("globalfs.quotas.from", 1000);

    @TempDir Path folder;

    private Random random = new Random();
    private @Nullable Rings opened;
    private final List<Long> directories = new ArrayList<>();
    private final List<Long> files = new ArrayList<>();
    private boolean links;
    private boolean moves;
    private int refused;
    private int coordinated;
    private long countedMoves;
    private int movedQuotas;
    private boolean moveUnderWay;

    private Rings rings() {
        return Objects.requireNonNull(opened);
    }

    static Stream<Arguments> seeds() {
        Stream<Arguments> always =
                Stream.of(
                        arguments(1, false, false),
                        arguments(2, true, false),
                        arguments(3, false, true),
                        arguments(100, true, true),
                        arguments(110, false, true));
        Stream<Arguments> more =
                LongStream.range(FIRST_OF_MORE, FIRST_OF_MORE + MORE_SEEDS)
                        .mapToObj(seed -> arguments(seed, seed % 4 == 0, true));
        return Stream.concat(always, more);
    }

    /** With hard links a file may count in another tree than the one it is found in. */
    @ParameterizedTest
    @MethodSource("seeds")
    void usageIsWhatIsThere(long seed, boolean withLinks, boolean withMoves) {
        System.out.printf("random quotas: seed %d, %s, %s%n", seed, withLinks, withMoves);
        random = new Random(seed);
        links = withLinks;
        moves = withMoves;
        try (Rings made = new Rings(folder, REGIONS)) {
            opened = made;
            directories.add(Partitions.ROOT);
            for (int origin = 1; origin <= REGIONS; origin++) {
                mkdir(Partitions.ROOT, "r" + origin, origin);
            }
            place(Partitions.ROOT, "inherit,creator");
            mkdir(Partitions.ROOT, "mixed", 1);
            place(Partitions.ROOT, "inherit");
            mkdir(Partitions.ROOT, "global", 1);
            mkdir(Partitions.ROOT, "more", 1);
            for (int i = 0; i < 3000; i++) {
                step();
                if (i % 100 == 99) {
                    check();
                }
                if (i % 500 == 499) {
                    replay();
                }
            }
            System.out.println(
                    "refused "
                            + refused
                            + ", coordinated "
                            + coordinated
                            + ", moved "
                            + countedMoves
                            + ", quotas among them "
                            + movedQuotas);
            assertThat(refused).as("refused for want of room").isPositive();
            assertThat(coordinated).as("coordinated operations").isPositive();
            assertThat(countedMoves > 0).as("moves to other partitions").isEqualTo(moves);
            assertThat(movedQuotas > 0).as("quotas that moved").isEqualTo(moves);
            removeEverything();
        }
    }

    private void mkdir(long parent, String name, int origin) {
        CreateOp op = new CreateOp(parent, bytes(name), Mode.DIRECTORY | 0777);
        UpdateReply reply = rings().run(0, rings().command(1, 0, origin, UpdateOp.create(op)));
        directories.add(reply.getAttributes().getIno());
    }

    private void place(long ino, String where) {
        SetXattrOp op = new SetXattrOp(ino, bytes("user.globalfs.placement"), bytes(where));
        assertThat(run(ino, UpdateOp.setXattr(op)).getErrno()).isZero();
    }

    private static ByteBuffer bytes(String name) {
        return ByteBuffer.wrap(name.getBytes(UTF_8));
    }

    private ByteBuffer name() {
        return bytes("n" + random.nextInt(NAMES));
    }

    private long any(List<Long> inodes) {
        return inodes.get(random.nextInt(inodes.size()));
    }

    private Map<Long, Quota> quotas() {
        Map<Long, Quota> quotas = new HashMap<>();
        for (int partition = 0; partition <= REGIONS; partition++) {
            rings().read(partition, 0, ReadOp.quota(new QuotaOp()))
                    .getQuotas()
                    .forEach(quota -> quotas.put(quota.getId(), quota));
        }
        return quotas;
    }

    /** Runs an update that may be refused: nothing grows beyond a limit. */
    private UpdateReply run(long ino, UpdateOp op) {
        Map<Long, Quota> before = quotas();
        boolean alone = rings().state(0).pendingTransactions().isEmpty();
        boolean nothingArrives = !moveUnderWay;
        int origin = 1 + random.nextInt(REGIONS);
        UpdateReply reply =
                rings().run(
                                rings().home(ino),
                                rings().command(1 + random.nextInt(3), 0, origin, op));
        moveUnderWay = false;
        Map<Long, Quota> after = quotas();
        if (reply.getErrno() == Errno.EDQUOT.number()) {
            refused++;
            assertThat(!alone || after.equals(before)).as("%s after %s", before, after).isTrue();
        }
        after.forEach((id, quota) -> {
            Quota earlier = before.get(id);
            if (earlier != null && nothingArrives && !op.isSetSetQuota()) {
                within(quota.getBytes(), earlier.getUsedBytes(), quota.getUsedBytes());
                within(quota.getInodes(), earlier.getUsedInodes(), quota.getUsedInodes());
            }
        });
        return reply;
    }

    /** Begins a coordinated operation; regions vote when the next one runs, after its first try. */
    private void begin(long ino, UpdateOp op) {
        Command command = rings().command(9, 0, 1, op);
        rings().deliver(rings().home(ino), List.of(rings().stamped(command)));
        UpdateReply reply = rings().reply(command);
        if (reply != null && reply.getStatus() == Status.ESCALATE) {
            Escalation next = Escalation.of(command, reply);
            rings().deliver(next.partition(), List.of(rings().stamped(next.command())));
            importIntoSome();
            coordinated += rings().state(0).pendingTransactions().size();
        }
    }

    private void importIntoSome() {
        for (int partition = 1; partition <= REGIONS; partition++) {
            if (random.nextBoolean()) {
                rings().importInto(partition);
            }
        }
    }

    private static void within(long limit, long before, long after) {
        if (limit > 0 && after > before) {
            assertThat(after).isLessThanOrEqualTo(limit);
        }
    }

    private void step() {
        switch (random.nextInt(20)) {
            case 0, 1, 2, 3, 4 -> create();
            case 5, 6, 7 -> content();
            case 8, 9, 10 -> rename();
            case 11, 12 -> unlink();
            case 13 -> truncate();
            case 14 -> link();
            case 15 -> setQuota();
            case 16 -> temporary();
            case 17 -> collect();
            case 18 -> moveElsewhere();
            default ->
                    rings().internal(
                                    random.nextInt(REGIONS + 1),
                                    UpdateOp.adoptQuota(new AdoptQuotaOp(1 + random.nextInt(4))));
        }
    }

    private void create() {
        long parent = any(directories);
        int mode = random.nextInt(3) == 0 ? Mode.DIRECTORY | 0755 : Mode.REGULAR | 0644;
        // What is under way may make room right afterwards.
        boolean alone = rings().state(0).pendingTransactions().isEmpty();
        UpdateReply reply = run(parent, UpdateOp.create(new CreateOp(parent, name(), mode)));
        if (reply.getErrno() == 0) {
            (Mode.isDirectory(mode) ? directories : files).add(reply.getAttributes().getIno());
        } else if (alone && reply.getErrno() == Errno.EDQUOT.number()) {
            assertThat(counting(parent))
                    .as("quotas that it would have counted in")
                    .anyMatch(quota ->
                            quota.getInodes() > 0 && quota.getUsedInodes() >= quota.getInodes());
        }
    }

    private List<Quota> counting(long ino) {
        return rings().read(rings().home(ino), 0, ReadOp.quota(new QuotaOp().setIno(ino)))
                .getQuotas();
    }

    private void moveElsewhere() {
        if (!moves) {
            return;
        }
        List<Long> roots = quotas().values().stream().map(Quota::getIno).sorted().toList();
        List<Long> inodes = List.of(any(directories));
        if (!roots.isEmpty() && random.nextInt(3) > 0) {
            inodes = List.of(any(roots));
        } else if (!files.isEmpty() && random.nextBoolean()) {
            inodes = List.of(any(files), any(files));
        }
        int to = random.nextInt(REGIONS + 1);
        int limit = 1 + random.nextInt(random.nextBoolean() ? 6 : 60);
        Command command =
                rings().command(8, 0, to, UpdateOp.move(new MoveOp(inodes, to).setLimit(limit)));
        if (random.nextInt(3) == 0) {
            rings().deliver(0, List.of(rings().stamped(command)));
            importIntoSome();
            moveUnderWay = true;
            return;
        }
        Map<Long, Integer> homes = new HashMap<>();
        roots.forEach(root -> homes.put(root, rings().home(root)));
        UpdateReply reply = rings().run(0, command);
        moveUnderWay = false;
        countedMoves += reply.getDone();
        Set<Long> now = new HashSet<>();
        quotas().values().forEach(quota -> now.add(quota.getIno()));
        for (long root : roots) {
            if (!homes.get(root).equals(rings().home(root))) {
                movedQuotas++;
                assertThat(now).as("a quota moves with its directory").contains(root);
            }
        }
    }

    private void temporary() {
        if (!links) {
            return;
        }
        long parent = any(directories);
        CreateOp op = new CreateOp(parent, bytes(""), Mode.REGULAR | 0600).setTemporary(true);
        UpdateReply reply = run(parent, UpdateOp.create(op.setExclusive(false)));
        if (reply.getErrno() == 0) {
            files.add(reply.getAttributes().getIno());
        }
    }

    private void content() {
        if (files.isEmpty()) {
            return;
        }
        long ino = any(files);
        long offset = random.nextInt(20_000);
        long length = 1L + random.nextInt(12_000);
        UpdateOp op =
                switch (random.nextInt(4)) {
                    case 0 -> UpdateOp.allocate(new AllocateOp(ino, offset, length, flags()));
                    case 1 ->
                            UpdateOp.copyRange(new CopyRangeOp(ino, offset, any(files), 0, length));
                    default -> {
                        BlockRef block =
                                new BlockRef(
                                        3,
                                        random.nextLong(),
                                        (int) length,
                                        1,
                                        (byte) 4,
                                        (byte) 2,
                                        1);
                        Extent extent = new Extent(offset, length);
                        extent.setBlock(block).setBlockOffset(0);
                        Extent more = new Extent(offset + length / 2, length / 2 + 1);
                        more.setData(new byte[(int) (length / 2 + 1)]);
                        yield UpdateOp.write(
                                new WriteOp(
                                                ino,
                                                random.nextBoolean()
                                                        ? List.of(extent)
                                                        : List.of(extent, more))
                                        .setAppend(random.nextInt(4) == 0));
                    }
                };
        run(ino, op);
    }

    private int flags() {
        return new int[] {0, 1, 3, 16, 17}[random.nextInt(5)];
    }

    private void truncate() {
        if (!files.isEmpty()) {
            long ino = any(files);
            SetAttributesOp op = new SetAttributesOp(ino).setSize(random.nextInt(20_000));
            assertThat(run(ino, UpdateOp.setAttributes(op)).getErrno())
                    .isNotEqualTo(Errno.EDQUOT.number());
        }
    }

    private void rename() {
        long from = any(directories);
        long to = any(directories);
        int flags = random.nextInt(4) == 0 ? random.nextInt(3) : 0;
        UpdateOp op = UpdateOp.rename(new RenameOp(from, name(), to, name(), flags));
        if (random.nextInt(3) == 0) {
            begin(from, op);
        } else {
            run(from, op);
        }
    }

    private void link() {
        if (links && !files.isEmpty()) {
            long to = any(directories);
            run(to, UpdateOp.link(new LinkOp(any(files), to, name())));
        }
    }

    private void unlink() {
        long parent = any(directories);
        UpdateReply reply =
                run(parent, UpdateOp.unlink(new UnlinkOp(parent, name(), random.nextBoolean())));
        assertThat(reply.getErrno()).isNotEqualTo(Errno.EDQUOT.number());
        long gone = reply.getRemoved();
        boolean stays = links && random.nextBoolean();
        if (reply.getErrno() == 0 && !stays) {
            directories.remove(gone);
        }
    }

    private void setQuota() {
        long ino = any(directories);
        SetQuotaOp op = new SetQuotaOp(ino);
        switch (random.nextInt(4)) {
            case 0 -> op.setBytes(0).setInodes(0);
            case 1 -> op.setBytes(1 + random.nextInt(200_000));
            case 2 -> op.setInodes(1 + random.nextInt(30));
            default -> op.setBytes(1 + random.nextInt(200_000)).setInodes(1 + random.nextInt(60));
        }
        run(ino, UpdateOp.setQuota(op));
    }

    private void collect() {
        rings().passMs(random.nextInt(61_000));
        int partition = random.nextInt(REGIONS + 1);
        rings().internal(partition, UpdateOp.collectOrphans(new CollectOrphansOp(10)));
        rings().settle();
        files.removeIf(ino -> attributes(ino) == null);
        directories.removeIf(ino -> attributes(ino) == null);
    }

    private @Nullable Attributes attributes(long ino) {
        return rings().readAt(ino, 0, ReadOp.getAttributes(new GetAttributesOp(ino)))
                .getAttributes();
    }

    private void check() {
        rings().settle();
        moveUnderWay = false;
        if (random.nextInt(6) == 0) {
            countAll();
            collectAll();
        }
        boolean open = false;
        for (int partition = 0; partition <= REGIONS; partition++) {
            assertThat(rings().state(partition).check().report().findings)
                    .as("partition %s", partition)
                    .isEmpty();
            open |= rings().state(partition).isCounting();
            // One that has grown without a name counts, and is not found by a walk.
            open |= rings().state(partition).orphans() > 0;
        }
        if (links || open) {
            return;
        }
        for (Quota quota : quotas().values()) {
            long[] sum = new long[2];
            walk(rings().home(quota.getIno()), quota.getIno(), sum, new HashSet<>());
            assertThat(quota.getUsedInodes()).as("%s", quota).isEqualTo(sum[0]);
            assertThat(quota.getUsedBytes()).as("%s", quota).isEqualTo(sum[1]);
        }
    }

    /** Inodes of one partition at and below this one, reached within that partition. */
    private void walk(int partition, long ino, long[] sum, Set<Long> seen) {
        if (rings().home(ino) != partition || !seen.add(ino)) {
            return;
        }
        Attributes attributes = Objects.requireNonNull(attributes(ino));
        sum[0]++;
        sum[1] += attributes.getAllocated();
        if (Mode.isDirectory(attributes.getMode())) {
            entries(ino).forEach(entry -> walk(partition, entry.getIno(), sum, seen));
        }
    }

    private List<DirectoryEntry> entries(long directory) {
        return rings().readAt(
                        directory, 0, ReadOp.readDirectory(new ReadDirectoryOp(directory, 0, 4000)))
                .getEntries();
    }

    private void replay() {
        int partition = random.nextInt(REGIONS + 1);
        byte[] before = rings().state(partition).hash().digest();
        if (random.nextBoolean()) {
            rings().state(partition).flush();
        }
        rings().crash(partition);
        assertThat(rings().state(partition).hash().digest()).isEqualTo(before);
    }

    private void countAll() {
        for (int partition = 0; partition <= REGIONS; partition++) {
            while (rings().state(partition).isCounting()) {
                rings().internal(partition, UpdateOp.adoptQuota(new AdoptQuotaOp(100)));
            }
        }
    }

    private void collectAll() {
        rings().passMs(3_600_000);
        for (int partition = 0; partition <= REGIONS; partition++) {
            while (rings().state(partition).orphans() > 0) {
                rings().internal(partition, UpdateOp.collectOrphans(new CollectOrphansOp(100)));
            }
            rings().settle();
        }
        files.removeIf(ino -> attributes(ino) == null);
        directories.removeIf(ino -> attributes(ino) == null);
    }

    /** Nothing is left of any quota then. */
    private void removeEverything() {
        rings().settle();
        countAll();
        check();
        empty(Partitions.ROOT);
        SetQuotaOp clear = new SetQuotaOp(Partitions.ROOT).setBytes(0).setInodes(0);
        assertThat(run(Partitions.ROOT, UpdateOp.setQuota(clear)).getErrno())
                .isIn(0, Errno.ENODATA.number());
        collectAll();
        assertThat(quotas()).isEmpty();
        for (int partition = 0; partition <= REGIONS; partition++) {
            assertThat(rings().state(partition).statistics().getInodes())
                    .as("inodes of partition %s", partition)
                    .isEqualTo(partition == 0 ? 1 : 0);
        }
        check();
    }

    private void empty(long directory) {
        for (DirectoryEntry entry : entries(directory)) {
            boolean below = entry.getType() == Mode.DIRECTORY;
            if (below) {
                empty(entry.getIno());
            }
            UpdateOp op =
                    UpdateOp.unlink(
                            new UnlinkOp(directory, ByteBuffer.wrap(entry.getName()), below));
            assertThat(run(directory, op).getErrno()).isZero();
        }
    }
}

package org.globalfs.replica.state;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

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
import org.globalfs.protocol.Errno;
import org.globalfs.protocol.wire.AdoptQuotaOp;
import org.globalfs.protocol.wire.AllocateOp;
import org.globalfs.protocol.wire.Attributes;
import org.globalfs.protocol.wire.BlockRef;
import org.globalfs.protocol.wire.CollectOrphansOp;
import org.globalfs.protocol.wire.CopyRangeOp;
import org.globalfs.protocol.wire.CreateOp;
import org.globalfs.protocol.wire.DirectoryEntry;
import org.globalfs.protocol.wire.Extent;
import org.globalfs.protocol.wire.GetAttributesOp;
import org.globalfs.protocol.wire.LinkOp;
import org.globalfs.protocol.wire.Quota;
import org.globalfs.protocol.wire.QuotaOp;
import org.globalfs.protocol.wire.ReadDirectoryOp;
import org.globalfs.protocol.wire.ReadOp;
import org.globalfs.protocol.wire.RenameOp;
import org.globalfs.protocol.wire.SetAttributesOp;
import org.globalfs.protocol.wire.SetQuotaOp;
import org.globalfs.protocol.wire.UnlinkOp;
import org.globalfs.protocol.wire.UpdateOp;
import org.globalfs.protocol.wire.UpdateReply;
import org.globalfs.protocol.wire.WriteOp;
import org.globalfs.replica.state.model.Mode;
import org.globalfs.replica.state.model.Partitions;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Random operations in trees whose quotas come and go, counted a bit at a time: usage is what a
 * walk through each tree finds, what was granted kept within the limits, and what was refused would
 * not have fitted.
 */
final class RandomQuotasTest {

    private static final int REGION = 1;
    private static final int NAMES = 5;

    @TempDir Path folder;

    private Random random = new Random();
    private @Nullable Rings opened;
    private final List<Long> directories = new ArrayList<>();
    private final List<Long> files = new ArrayList<>();
    private boolean links;
    private int refused;

    private Rings rings() {
        return Objects.requireNonNull(opened);
    }

    /** With hard links a file may count in another tree than the one it is found in. */
    @ParameterizedTest
    @CsvSource({"1, false", "2, false", "3, false", "4, false", "5, true", "6, true"})
    void usageIsWhatIsThere(long seed, boolean withLinks) {
        System.out.println("random quotas: seed " + seed + ", links " + withLinks);
        random = new Random(seed);
        links = withLinks;
        try (Rings made = new Rings(folder, 2)) {
            opened = made;
            for (int origin = 1; origin <= 2; origin++) {
                CreateOp op =
                        new CreateOp(Partitions.ROOT, bytes("r" + origin), Mode.DIRECTORY | 0777);
                UpdateReply reply =
                        rings().run(0, rings().command(1, 0, origin, UpdateOp.create(op)));
                directories.add(reply.getAttributes().getIno());
            }
            for (int i = 0; i < 4000; i++) {
                step();
                if (i % 100 == 99) {
                    check();
                }
                if (i % 1000 == 999) {
                    replay();
                }
            }
            assertThat(refused).as("refused for want of room").isPositive();
            removeEverything();
        }
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
        rings().read(REGION, 0, ReadOp.quota(new QuotaOp()))
                .getQuotas()
                .forEach(quota -> quotas.put(quota.getId(), quota));
        return quotas;
    }

    /** Runs an update that may be refused: nothing grows beyond a limit. */
    private UpdateReply run(long ino, UpdateOp op) {
        Map<Long, Quota> before = quotas();
        UpdateReply reply =
                rings().run(
                                Partitions.ofBirth(ino),
                                rings().command(1 + random.nextInt(3), 0, 1, op));
        Map<Long, Quota> after = quotas();
        if (reply.getErrno() == Errno.EDQUOT.number()) {
            refused++;
            assertThat(after).isEqualTo(before);
        }
        after.forEach((id, quota) -> {
            Quota earlier = before.get(id);
            if (earlier != null && !op.isSetSetQuota()) {
                within(quota.getBytes(), earlier.getUsedBytes(), quota.getUsedBytes());
                within(quota.getInodes(), earlier.getUsedInodes(), quota.getUsedInodes());
            }
        });
        return reply;
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
            default ->
                    rings().internal(
                                    REGION,
                                    UpdateOp.adoptQuota(new AdoptQuotaOp(1 + random.nextInt(4))));
        }
    }

    private void create() {
        long parent = any(directories);
        int mode = random.nextInt(3) == 0 ? Mode.DIRECTORY | 0755 : Mode.REGULAR | 0644;
        UpdateReply reply = run(parent, UpdateOp.create(new CreateOp(parent, name(), mode)));
        if (reply.getErrno() == 0) {
            (Mode.isDirectory(mode) ? directories : files).add(reply.getAttributes().getIno());
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
        run(from, UpdateOp.rename(new RenameOp(from, name(), to, name(), flags)));
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
        rings().internal(REGION, UpdateOp.collectOrphans(new CollectOrphansOp(10)));
        files.removeIf(ino -> attributes(ino) == null);
        directories.removeIf(ino -> attributes(ino) == null);
    }

    private @Nullable Attributes attributes(long ino) {
        return rings().read(
                        Partitions.ofBirth(ino), 0, ReadOp.getAttributes(new GetAttributesOp(ino)))
                .getAttributes();
    }

    private void check() {
        for (int partition = 0; partition <= 2; partition++) {
            assertThat(rings().state(partition).check().report().findings)
                    .as("partition %s", partition)
                    .isEmpty();
        }
        if (links || rings().state(REGION).isCounting()) {
            return;
        }
        for (Quota quota : quotas().values()) {
            long[] sum = new long[2];
            walk(quota.getIno(), sum, new HashSet<>());
            assertThat(quota.getUsedInodes()).as("%s", quota).isEqualTo(sum[0]);
            assertThat(quota.getUsedBytes()).as("%s", quota).isEqualTo(sum[1]);
        }
    }

    /** Inodes of the region's partition at and below this one, reached within the partition. */
    private void walk(long ino, long[] sum, Set<Long> seen) {
        if (Partitions.ofBirth(ino) != REGION || !seen.add(ino)) {
            return;
        }
        Attributes attributes = Objects.requireNonNull(attributes(ino));
        sum[0]++;
        sum[1] += attributes.getAllocated();
        if (Mode.isDirectory(attributes.getMode())) {
            rings().read(REGION, 0, ReadOp.readDirectory(new ReadDirectoryOp(ino, 0, 4000)))
                    .getEntries()
                    .forEach((DirectoryEntry entry) -> walk(entry.getIno(), sum, seen));
        }
    }

    private void replay() {
        byte[] before = rings().state(REGION).hash().digest();
        if (random.nextBoolean()) {
            rings().state(REGION).flush();
        }
        rings().crash(REGION);
        assertThat(rings().state(REGION).hash().digest()).isEqualTo(before);
    }

    /** Nothing is left of any quota then. */
    private void removeEverything() {
        while (rings().state(REGION).isCounting()) {
            rings().internal(REGION, UpdateOp.adoptQuota(new AdoptQuotaOp(100)));
        }
        check();
        empty(Partitions.ROOT);
        rings().passMs(3_600_000);
        for (int partition = 1; partition <= 2; partition++) {
            while (rings().state(partition).orphans() > 0) {
                rings().internal(partition, UpdateOp.collectOrphans(new CollectOrphansOp(100)));
            }
        }
        assertThat(quotas()).isEmpty();
        assertThat(rings().state(REGION).statistics().getInodes()).isZero();
        check();
    }

    private void empty(long directory) {
        List<DirectoryEntry> entries =
                rings().read(
                                Partitions.ofBirth(directory),
                                0,
                                ReadOp.readDirectory(new ReadDirectoryOp(directory, 0, 4000)))
                        .getEntries();
        for (DirectoryEntry entry : entries) {
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

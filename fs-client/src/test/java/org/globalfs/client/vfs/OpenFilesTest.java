package org.globalfs.client.vfs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.LongStream;
import org.apache.thrift.TException;
import org.apache.thrift.TSerializer;
import org.apache.thrift.protocol.TCompactProtocol;
import org.globalfs.client.FakeBlockStore;
import org.globalfs.client.FakeCluster;
import org.globalfs.client.cache.KernelPages;
import org.globalfs.client.cache.MetadataCache;
import org.globalfs.client.io.WriteBack;
import org.globalfs.client.meta.Session;
import org.globalfs.protocol.Errno;
import org.globalfs.protocol.wire.Attributes;
import org.globalfs.protocol.wire.RenewSessionOp;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** How many files may be open at once. */
class OpenFilesTest {

    private static final int MAX_COMMAND_BYTES = 4 << 20;

    @TempDir private Path folder;

    @Test
    void beyondTheMostNoOtherFileIsOpened() throws FsException {
        try (FakeCluster cluster = new FakeCluster(folder, 1);
                TestClient client =
                        new TestClient(cluster, new FakeBlockStore(), 1, TestClient.SLOW_FLUSH)) {
            MetadataCache cache = client.fs.cache();
            KernelPages pages = new KernelPages();
            PageGrants grants = new PageGrants(cache, pages, Session.begin());
            Requests requests = new Requests(client.metadata, cache, 1);
            FileBacking backing = new FileBacking(requests, pages, grants);
            try (WriteBack writeBack =
                    new WriteBack(backing, new FakeBlockStore(), TestClient.SLOW_FLUSH)) {
                OpenFiles files = new OpenFiles(writeBack, grants, new AtomicLong(), 2);
                files.checkRoom();
                files.open(new Attributes().setIno(7), 0);
                files.open(new Attributes().setIno(7), 0);
                files.checkRoom();
                long last = files.open(new Attributes().setIno(8), 0).number;
                assertThatThrownBy(files::checkRoom)
                        .isInstanceOfSatisfying(
                                FsException.class,
                                e -> assertThat(e.errno()).isEqualTo(Errno.ENFILE));
                files.release(last);
                files.checkRoom();
            }
        }
    }

    @Test
    void aRenewalThatNamesTheMostIsOneCommand() throws TException {
        List<Long> open =
                LongStream.range(0, OpenFiles.MOST_INODES)
                        .mapToObj(i -> Long.MAX_VALUE - i)
                        .toList();
        RenewSessionOp op = new RenewSessionOp(open);
        byte[] bytes = new TSerializer(new TCompactProtocol.Factory()).serialize(op);
        assertThat(bytes.length).isLessThan(MAX_COMMAND_BYTES);
    }
}

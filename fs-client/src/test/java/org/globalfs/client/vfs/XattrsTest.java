package org.globalfs.client.vfs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.globalfs.client.vfs.TestClient.bytes;

import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;
import org.globalfs.client.FakeBlockStore;
import org.globalfs.client.FakeCluster;
import org.globalfs.protocol.posix.Xattr;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What extended attributes cost, and that nobody is told an old one. */
class XattrsTest {

    private static final byte[] NOTE = bytes("user.note");
    private static final byte[] CAPABILITY = Xattr.capability();
    private static final byte[] ACCESS = Xattr.ACCESS_ACL.fullName();

    /** u::rw-,u:1000:r--,g::---,m::r--,o::--- */
    private static final byte[] READABLE_BY_1000 =
            HexFormat.of()
                    .parseHex(
                            "02000000"
                                    + "01000600ffffffff"
                                    + "02000400e8030000"
                                    + "04000000ffffffff"
                                    + "10000400ffffffff"
                                    + "20000000ffffffff");

    @TempDir Path folder;

    private FakeCluster cluster;
    private TestClient one;
    private TestClient two;
    private long home;
    private long file;

    @BeforeEach
    void begin() throws FsException {
        cluster = new FakeCluster(folder, 1);
        cluster.leaseMs = 5_000;
        FakeBlockStore blocks = new FakeBlockStore();
        one = new TestClient(cluster, blocks, 1, TestClient.SLOW_FLUSH);
        two = new TestClient(cluster, blocks, 1, TestClient.SLOW_FLUSH);
        home = one.mkdir(one.mkdir(FileSystem.ROOT, "top"), "home");
        one.put(home, "file", "text");
        file = one.lookup(home, "file");
    }

    @AfterEach
    void end() {
        one.close();
        two.close();
        cluster.close();
    }

    private int calls() {
        return cluster.reads.get() + cluster.updates.get();
    }

    private void set(TestClient client, byte[] name, byte[] value) throws FsException {
        client.fs.setXattr(client.caller(), file, name, value, 0);
    }

    private byte[] get(TestClient client, byte[] name) throws FsException {
        return client.fs.getXattr(client.caller(), file, name);
    }

    private void absent(TestClient client, byte[] name) {
        assertThatThrownBy(() -> get(client, name)).hasMessageContaining("ENODATA");
    }

    @Test
    void anInodeWithoutAnyCostsNoQuestion() throws FsException {
        int before = calls();
        absent(one, NOTE);
        absent(one, CAPABILITY);
        absent(one, ACCESS);
        absent(one, Xattr.DEFAULT_ACL.fullName());
        assertThat(one.fs.listXattr(one.caller(), file)).isEmpty();
        assertThat(calls()).isEqualTo(before);
    }

    @Test
    void whatIsKnownIsToldUntilSomebodyChangesIt() throws FsException {
        set(one, NOTE, bytes("first"));
        assertThat(get(two, NOTE)).isEqualTo(bytes("first"));
        int before = calls();
        assertThat(get(two, NOTE)).isEqualTo(bytes("first"));
        absent(two, CAPABILITY);
        assertThat(calls()).isEqualTo(before);
        set(one, NOTE, bytes("second"));
        assertThat(get(two, NOTE)).isEqualTo(bytes("second"));
        assertThat(get(one, NOTE)).isEqualTo(bytes("second"));
        two.fs.removeXattr(two.caller(), file, NOTE);
        absent(one, NOTE);
        absent(two, NOTE);
    }

    @Test
    void aListBringsTheValues() throws FsException {
        set(one, NOTE, bytes("value"));
        set(one, bytes("trusted.x"), bytes("secret"));
        List<byte[]> names = two.fs.listXattr(two.caller(), file);
        assertThat(names).containsExactly(bytes("trusted.x"), NOTE);
        int before = calls();
        assertThat(get(two, NOTE)).isEqualTo(bytes("value"));
        two.uid = 1000;
        absent(two, bytes("trusted.x"));
        assertThat(two.fs.listXattr(two.caller(), file)).containsExactly(NOTE);
        assertThat(calls()).isEqualTo(before + 1);
    }

    @Test
    void listsAreEnforcedFromWhatIsCachedToo() throws FsException {
        set(one, ACCESS, READABLE_BY_1000);
        two.uid = 1000;
        assertThat(two.content(file)).isEqualTo(bytes("text"));
        int before = calls();
        assertThat(two.content(file)).isEqualTo(bytes("text"));
        assertThat(get(two, ACCESS)).isEqualTo(READABLE_BY_1000);
        assertThatThrownBy(() -> two.open(file, OpenFlags.O_WRONLY)).hasMessageContaining("EACCES");
        two.uid = 1001;
        assertThatThrownBy(() -> two.content(file)).hasMessageContaining("EACCES");
        assertThat(calls()).isLessThanOrEqualTo(before + 1);
        one.fs.removeXattr(one.caller(), file, ACCESS);
        two.uid = 1000;
        assertThatThrownBy(() -> two.content(file)).hasMessageContaining("EACCES");
    }

    /** The file was opened by somebody who may not open it any more, and writes. */
    @Test
    void aWriterTakesACapabilityAwayWhateverTheModeIsNow() throws FsException {
        one.set(file, SetAttributes.MODE, 0666, FileSystem.NO_HANDLE);
        one.uid = 1000;
        TestClient.Open open = one.open(file, OpenFlags.O_WRONLY);
        two.set(file, SetAttributes.MODE, 0600, FileSystem.NO_HANDLE);
        set(two, CAPABILITY, bytes("cap"));
        one.fs.removeXattr(one.caller(), file, CAPABILITY);
        one.write(open, 0, bytes("new"));
        one.close(open);
        absent(two, CAPABILITY);
        assertThatThrownBy(() -> one.fs.removeXattr(one.caller(), file, NOTE))
                .hasMessageContaining("EACCES");
    }

    /** A write before, that waits to be committed, must not take away what was set after it. */
    @Test
    void capabilitiesOutliveEarlierWritesOnly() throws FsException {
        TestClient.Open open = one.open(file, OpenFlags.O_WRONLY);
        one.write(open, 0, bytes("new"));
        set(one, CAPABILITY, bytes("cap"));
        one.flush(open);
        assertThat(get(two, CAPABILITY)).isEqualTo(bytes("cap"));
        one.write(open, 0, bytes("newer"));
        one.close(open);
        absent(two, CAPABILITY);
    }
}

package org.globalfs.client.fuse;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.globalfs.protocol.Errno;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What kernels of other versions than this machine's offer, and are answered. */
@Timeout(30)
class InitNegotiationTest {
    /** What Linux 5.2 has after the versions: no second half of the flags. */
    private static final int OLD_OFFER_BYTES = 16;

    private static final long ALL = -1L;
    private static final long OLD_FLAGS =
            ALL >>> 32 & ~FuseFlags.INIT_EXT & ~FuseFlags.HANDLE_KILLPRIV_V2;

    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
    private final Arena arena = Arena.ofShared();
    private final MemorySegment state = Libc.newState();
    private int[] ends = {};

    @BeforeEach
    void connect() {
        ends = Libc.socketPair();
        assertThat(ends).hasSize(2);
    }

    @AfterEach
    void disconnect() {
        threads.shutdownNow();
        Libc.close(ends[0]);
        Libc.close(ends[1]);
        arena.close();
    }

    private Future<InitNegotiation.Agreement> negotiate(MountOptions options) {
        return threads.submit(() -> InitNegotiation.run(new FuseDevice(ends[0]), options, true));
    }

    private void offer(int major, int minor, long flags, int bytes) {
        MemorySegment message = arena.allocate(Exchange.HEADER + FuseLayout.InitIn.SIZE_OF, 8);
        ByteBuffer request = message.asByteBuffer().order(ByteOrder.nativeOrder());
        request.putInt(FuseLayout.InHeader.LEN, Exchange.HEADER + bytes);
        request.putInt(FuseLayout.InHeader.OPCODE, Opcode.INIT.number);
        request.putLong(FuseLayout.InHeader.UNIQUE, 2);
        request.putInt(Exchange.HEADER + FuseLayout.InitIn.MAJOR, major);
        request.putInt(Exchange.HEADER + FuseLayout.InitIn.MINOR, minor);
        request.putInt(Exchange.HEADER + FuseLayout.InitIn.FLAGS, (int) flags);
        request.putInt(Exchange.HEADER + FuseLayout.InitIn.FLAGS2, (int) (flags >>> 32));
        int length = Exchange.HEADER + bytes;
        assertThat(Libc.write(ends[1], message.address(), length, state)).isEqualTo(length);
    }

    private ByteBuffer answer() {
        MemorySegment message = arena.allocate(1024, 8);
        long length = Libc.read(ends[1], message.address(), message.byteSize(), state);
        ByteBuffer answer = message.asByteBuffer().order(ByteOrder.nativeOrder());
        assertThat(answer.getInt(FuseLayout.OutHeader.LEN)).isEqualTo((int) length);
        return answer.limit((int) length);
    }

    private static int field(ByteBuffer answer, int offset) {
        return answer.getInt(FuseLayout.OutHeader.SIZE_OF + offset);
    }

    private static long flags(ByteBuffer answer) {
        return field(answer, FuseLayout.InitOut.FLAGS) & 0xffffffffL
                | (long) field(answer, FuseLayout.InitOut.FLAGS2) << 32;
    }

    @Test
    void theOldestKernelThatIsServedIsAskedForNothingThatItDoesNotKnow() throws Exception {
        var agreed = negotiate(MountOptions.defaults());
        offer(7, FuseFlags.OLDEST_MINOR, OLD_FLAGS, OLD_OFFER_BYTES);
        ByteBuffer answer = answer();
        assertThat(answer.getInt(FuseLayout.OutHeader.ERROR)).isZero();
        assertThat(field(answer, FuseLayout.InitOut.MAJOR)).isEqualTo(7);
        assertThat(field(answer, FuseLayout.InitOut.MINOR)).isEqualTo(FuseFlags.OLDEST_MINOR);
        assertThat(flags(answer) & ~OLD_FLAGS).isZero();
        assertThat(flags(answer) & FuseFlags.HANDLE_KILLPRIV).isNotZero();
        assertThat(agreed.get().minor()).isEqualTo(FuseFlags.OLDEST_MINOR);
        assertThat(agreed.get().expiresEntries()).isFalse();
        assertThat(agreed.get().flags()).isEqualTo(flags(answer));
    }

    @Test
    void aNewerMinorVersionIsServedInTheNewestOneKnown() throws Exception {
        var agreed = negotiate(MountOptions.defaults());
        offer(7, FuseFlags.NEWEST_MINOR + 7, ALL, FuseLayout.InitIn.SIZE_OF);
        ByteBuffer answer = answer();
        assertThat(field(answer, FuseLayout.InitOut.MINOR)).isEqualTo(FuseFlags.NEWEST_MINOR);
        assertThat(flags(answer))
                .as("one of the two, the newer")
                .satisfies(flags -> assertThat(flags & FuseFlags.HANDLE_KILLPRIV_V2).isNotZero())
                .satisfies(flags -> assertThat(flags & FuseFlags.HANDLE_KILLPRIV).isZero())
                .satisfies(flags -> assertThat(flags & FuseFlags.DIRECT_IO_ALLOW_MMAP).isNotZero());
        assertThat(agreed.get().kernelMinor()).isEqualTo(FuseFlags.NEWEST_MINOR + 7);
        assertThat(agreed.get().expiresEntries()).isTrue();
    }

    @ParameterizedTest
    @CsvSource({"7, 30", "7, 0", "6, 99"})
    void olderOnesAreRefusedAndToldWhy(int major, int minor) {
        var agreed = negotiate(MountOptions.defaults());
        offer(major, minor, OLD_FLAGS, OLD_OFFER_BYTES);
        assertThat(answer().getInt(FuseLayout.OutHeader.ERROR)).isEqualTo(-Errno.EPROTO.number());
        assertThatThrownBy(agreed::get)
                .hasCauseInstanceOf(MountException.class)
                .hasMessageContaining(
                        "this kernel speaks FUSE %d.%d; 7.31 (Linux 5.2) or newer", major, minor);
    }

    @Test
    void aNewerMajorVersionOffersAgain() throws Exception {
        var agreed = negotiate(MountOptions.defaults());
        offer(8, 2, ALL, FuseLayout.InitIn.SIZE_OF);
        assertThat(field(answer(), FuseLayout.InitOut.MAJOR)).isEqualTo(7);
        assertThat(agreed.isDone()).isFalse();
        offer(7, 40, ALL, FuseLayout.InitIn.SIZE_OF);
        assertThat(field(answer(), FuseLayout.InitOut.MINOR)).isEqualTo(40);
        assertThat(agreed.get().minor()).isEqualTo(40);
    }

    /** Linux takes it for its own checks (default_permissions), which are not to be made then. */
    @Test
    void accessListsAreTheKernelsOnlyWithItsChecks() {
        var _ = negotiate(MountOptions.defaults().withDefaultPermissions(false));
        offer(7, 40, ALL, FuseLayout.InitIn.SIZE_OF);
        assertThat(flags(answer()) & FuseFlags.POSIX_ACL).isZero();
    }
}

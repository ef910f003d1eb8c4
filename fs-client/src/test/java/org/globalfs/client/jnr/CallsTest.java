package org.globalfs.client.jnr;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import jnr.ffi.Memory;
import jnr.ffi.Pointer;
import jnr.ffi.Runtime;
import org.globalfs.client.fuse.Opcode;
import org.globalfs.client.fuse.OperationLog;
import org.globalfs.client.fuse.OperationStatistics;
import org.globalfs.protocol.Errno;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import ru.serce.jnrfuse.struct.FuseContext;
import ru.serce.jnrfuse.struct.FuseFileInfo;

/** Calls where the system refuses threads. */
class CallsTest {
    private static final int STRUCT_BYTES = 256;

    private final AtomicInteger refusals = new AtomicInteger();
    private final AtomicInteger done = new AtomicInteger();
    private final Handles handles = new Handles();
    private final FuseFileInfo info = FuseFileInfo.of(memory());

    /** Threads of which the system refuses the next {@link #refusals}. */
    private final ThreadFactory threads =
            task -> {
                if (refusals.getAndUpdate(left -> Math.max(0, left - 1)) > 0) {
                    throw new OutOfMemoryError("unable to create native thread");
                }
                return Thread.ofPlatform().daemon().unstarted(task);
            };

    private final Calls calls =
            new Calls(
                    null,
                    handles,
                    TimeUnit.MINUTES.toNanos(1),
                    () -> FuseContext.of(memory()),
                    new OperationStatistics(),
                    new OperationLog(0, false),
                    threads);

    private static Pointer memory() {
        return Memory.allocateDirect(Runtime.getSystemRuntime(), STRUCT_BYTES, true);
    }

    private int act(Opcode opcode) {
        info.fh.set(handles.add(new Handles.Open(2, 3)));
        return calls.actOpen(opcode, info, (_, open) -> done.addAndGet((int) open.handle()));
    }

    @ParameterizedTest
    @EnumSource(
            value = Opcode.class,
            names = {"FLUSH", "RELEASE", "RELEASEDIR"})
    void whatIsClosedWhenThereIsNoThreadMoreIsClosed(Opcode closing) {
        refusals.set(1);
        assertThat(act(closing)).isZero();
        assertThat(done).hasValue(3);
    }

    @ParameterizedTest
    @EnumSource(
            value = Opcode.class,
            names = {"FSYNC", "SETLKW"})
    void otherCallsFailUntilThereIsAThreadAgain(Opcode other) {
        refusals.set(1);
        assertThat(act(other)).isEqualTo(-Errno.EIO.number());
        assertThat(done).hasValue(0);
        assertThat(act(other)).isZero();
        assertThat(done).hasValue(3);
    }
}

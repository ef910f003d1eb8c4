package org.globalfs.client.fuse;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import org.globalfs.client.vfs.AttributesReply;
import org.globalfs.client.vfs.Caller;
import org.globalfs.client.vfs.Stat;
import org.junit.jupiter.api.Test;

class ExchangeTest {
    private static final long NOW = 5_000_000_000L;
    private final Exchange exchange = new Exchange();

    private void request() {
        ByteBuffer memory = exchange.memory();
        memory.putInt(Exchange.REQUEST + FuseLayout.InHeader.LEN, Exchange.HEADER);
        memory.putInt(Exchange.REQUEST + FuseLayout.InHeader.OPCODE, Opcode.GETATTR.number);
        assertThat(exchange.decode(Exchange.HEADER, NOW, 0)).isTrue();
    }

    /** As after a SIGSTOP between the two: the kernel begins to count at the answer. */
    @Test
    void timesAreOldThatWereTakenWellBeforeTheAnswer() {
        request();
        assertThat(exchange.hasOldTimeouts(Long.MAX_VALUE)).as("there are none").isFalse();
        exchange.timeouts(NOW);
        assertThat(exchange.hasOldTimeouts(NOW + Exchange.TIMEOUTS_KEPT_NS)).isFalse();
        assertThat(exchange.hasOldTimeouts(NOW + Exchange.TIMEOUTS_KEPT_NS + 1)).isTrue();
        exchange.timeouts(NOW + Exchange.TIMEOUTS_KEPT_NS);
        assertThat(exchange.hasOldTimeouts(NOW + Exchange.TIMEOUTS_KEPT_NS + 1))
                .as("those of the first entry")
                .isTrue();
        request();
        assertThat(exchange.hasOldTimeouts(Long.MAX_VALUE)).as("of another request").isFalse();
    }

    @Test
    void anAnswerOfAttributesSaysSinceWhenItsTimesCount() throws Exception {
        request();
        Stat stat = new Stat(1, Stat.REGULAR, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0);
        MemoryFileSystem files =
                new MemoryFileSystem(0, false, false) {
                    @Override
                    public AttributesReply getAttributes(Caller caller, long ino, long handle) {
                        return new AttributesReply(stat, NOW);
                    }
                };
        new InodeOperations(files, 4096).getAttributes(exchange);
        assertThat(exchange.hasOldTimeouts(Long.MAX_VALUE)).isTrue();
    }
}

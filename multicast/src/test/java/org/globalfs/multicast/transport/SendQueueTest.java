package org.globalfs.multicast.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.channels.GatheringByteChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SendQueueTest {
    private static final int MAX_BYTES = 1 << 20;

    private final BufferPool pool = new BufferPool();

    /** Takes a random part of what it is offered. */
    private static final class ReluctantSocket implements GatheringByteChannel {
        final ByteArrayOutputStream received = new ByteArrayOutputStream();
        private final SplittableRandom random;

        ReluctantSocket(SplittableRandom random) {
            this.random = random;
        }

        @Override
        public long write(ByteBuffer[] from, int offset, int length) {
            int offered = 0;
            for (int i = offset; i < offset + length; i++) {
                offered += from[i].remaining();
            }
            int left = random.nextInt(4) == 0 ? 0 : random.nextInt(offered + 1);
            int written = left;
            for (int i = offset; i < offset + length && left > 0; i++) {
                byte[] part = new byte[Math.min(left, from[i].remaining())];
                from[i].get(part);
                received.writeBytes(part);
                left -= part.length;
            }
            return written;
        }

        @Override
        public long write(ByteBuffer[] from) {
            return write(from, 0, from.length);
        }

        @Override
        public int write(ByteBuffer from) {
            return (int) write(new ByteBuffer[] {from});
        }

        @Override
        public boolean isOpen() {
            return true;
        }

        @Override
        public void close() {}
    }

    /** As those of a follower that takes too little, of values that are just too large to copy. */
    @Test
    void whatWaitsTakesNoMoreMemoryThanItMay() {
        SendQueue queue = new SendQueue(pool, MAX_BYTES);
        long before = directBytes();
        boolean taken = true;
        while (taken) {
            BufferPool.Lease frame = pool.take(9 << 10);
            frame.buffer.position(9 << 10);
            taken = queue.share(frame) && queue.copy(ByteBuffer.allocate(100));
            frame.release();
        }
        assertThat(queue.bytes()).isGreaterThan(MAX_BYTES / 4);
        // One that it did not take.
        assertThat(directBytes() - before).isLessThanOrEqualTo(MAX_BYTES + (16 << 10));
        queue.clear();
    }

    /**
     * However little memory there is, the connection must not be given up for it again and again.
     */
    @Test
    void aMessageThatIsLargerThanTheBoundWaitsAlone() {
        SendQueue queue = new SendQueue(pool, MAX_BYTES);
        assertThat(queue.copy(ByteBuffer.allocate(100))).isTrue();
        BufferPool.Lease frame = pool.take(3 * MAX_BYTES);
        frame.buffer.position(3 * MAX_BYTES);
        assertThat(queue.share(frame)).isTrue();
        assertThat(queue.share(frame)).isFalse();
        frame.release();
        queue.clear();
        assertThat(queue.copy(ByteBuffer.allocate(MAX_BYTES))).isTrue();
        queue.clear();
    }

    @Test
    void whatMayWaitIsAPartOfTheMemory() {
        assertThat(TransportOptions.maxQueuedBytes(320L << 20)).isEqualTo(40 << 20);
        assertThat(TransportOptions.maxQueuedBytes(96L << 20)).isEqualTo(24 << 20);
        assertThat(TransportOptions.maxQueuedBytes(64L << 30)).isEqualTo(64 << 20);
    }

    private static long directBytes() {
        return ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class).stream()
                .filter(buffers -> buffers.getName().equals("direct"))
                .mapToLong(BufferPoolMXBean::getMemoryUsed)
                .sum();
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
    void everyByteArrivesInOrderAtEachSocket(long seed) throws IOException {
        SplittableRandom random = new SplittableRandom(seed);
        List<SendQueue> queues = new ArrayList<>();
        List<ReluctantSocket> sockets = new ArrayList<>();
        List<ByteArrayOutputStream> expected = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            queues.add(new SendQueue(pool, MAX_BYTES));
            sockets.add(new ReluctantSocket(random));
            expected.add(new ByteArrayOutputStream());
        }
        for (int round = 0; round < 2000; round++) {
            byte[] frame = new byte[1 + random.nextInt(random.nextInt(10) == 0 ? 200_000 : 300)];
            random.nextBytes(frame);
            boolean shared = random.nextBoolean();
            BufferPool.Lease lease = pool.take(frame.length);
            lease.buffer.put(frame);
            for (int i = 0; i < queues.size(); i++) {
                boolean taken =
                        shared
                                ? queues.get(i).share(lease)
                                : queues.get(i).copy(ByteBuffer.wrap(frame));
                if (taken) {
                    expected.get(i).writeBytes(frame);
                }
                queues.get(i).writeTo(sockets.get(i));
            }
            lease.release();
        }
        for (int i = 0; i < queues.size(); i++) {
            while (!queues.get(i).isEmpty()) {
                queues.get(i).writeTo(sockets.get(i));
            }
            assertThat(sockets.get(i).received.toByteArray())
                    .as("socket %s, seed %s", i, seed)
                    .isEqualTo(expected.get(i).toByteArray());
        }
    }

    @Test
    void refusesWhatExceedsItsBoundAndGivesBuffersBack() {
        SendQueue queue = new SendQueue(pool, 200_000);
        BufferPool.Lease lease = pool.take(70_000);
        ByteBuffer large = lease.buffer;
        large.put(new byte[70_000]);
        assertThat(queue.share(lease)).isTrue();
        assertThat(queue.share(lease)).isFalse();
        assertThat(queue.copy(ByteBuffer.allocate(70_000))).isFalse();
        assertThat(queue.copy(ByteBuffer.allocate(30_000))).isTrue();
        lease.release();
        assertThat(pool.take(70_000).buffer).isNotSameAs(large);
        queue.clear();
        assertThat(queue.isEmpty()).isTrue();
        assertThat(pool.take(70_000).buffer).isSameAs(large);
    }
}

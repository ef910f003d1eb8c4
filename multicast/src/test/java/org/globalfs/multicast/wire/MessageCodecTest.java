package org.globalfs.multicast.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.globalfs.multicast.Entry;
import org.globalfs.multicast.Membership;
import org.globalfs.multicast.core.AcceptedValue;
import org.globalfs.multicast.core.Ballot;
import org.globalfs.multicast.core.Batch;
import org.globalfs.multicast.core.Message;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class MessageCodecTest {
    private static final Ballot B = new Ballot(3, 1L << 31, 9);
    private static final Ballot A = new Ballot(7, 3);
    private static final Batch BATCH =
            new Batch(
                    List.of(
                            new Entry.Command(123, new byte[] {1, 2, 3}, new int[] {0, 2}),
                            new Entry.Import(77),
                            new Entry.Noop(),
                            new Entry.Command(124, new byte[0], new int[0])));
    private static final Batch MEMBERS =
            new Batch(
                    List.of(
                            new Entry.Members(
                                    new Membership(
                                            4,
                                            List.of(
                                                    new Membership.Member(1, true, ""),
                                                    new Membership.Member(
                                                            300, false, "höst:70"))))));
    private static final Batch EMPTY = new Batch(List.of());
    private static final Batch MERGED =
            new Batch(
                    List.of(
                            new Entry.Skip(1L << 50),
                            new Entry.Subscription(2, 3, true, 4, 5),
                            new Entry.Subscription(2, 3, false, 0, 0)));

    static List<Message> messages() {
        return List.of(
                new Message.PreVote(3, 1, 2),
                new Message.PreVoteReply(1, true, B, 2),
                new Message.Prepare(B, 3),
                new Message.Promise(
                        B,
                        4,
                        5,
                        A,
                        6,
                        List.of(new AcceptedValue(6, A, BATCH), new AcceptedValue(7, A, EMPTY))),
                new Message.Nack(A, B),
                new Message.Open(B, 8, List.of(BATCH, EMPTY), List.of(77L)),
                new Message.Rejoin(77, 5),
                new Message.Accept(B, 9, BATCH, 8, List.of(3, 2)),
                new Message.Accept(A, 10, MEMBERS, 9, List.of()),
                new Message.Voted(B, 9, 8),
                new Message.Heartbeat(B, 1, 2, 3, 4),
                new Message.HeartbeatAck(B, 3, 2, 1, 5, 4),
                new Message.CatchUpRequest(5),
                new Message.CatchUpReply(5, List.of(EMPTY, BATCH), 9),
                new Message.TooOld(1, 2, 3),
                new Message.Forward(new byte[] {9, 8}, new int[] {1}),
                new Message.ForwardEntry(new Entry.Subscription(2, 3, true, 4, 5)));
    }

    private static byte[] encode(Message message) {
        ByteBuffer to =
                ByteBuffer.allocate(MessageCodec.sizeBound(message)).order(ByteOrder.LITTLE_ENDIAN);
        MessageCodec.encode(message, to);
        return Arrays.copyOf(to.array(), to.position());
    }

    private static Message decode(byte[] bytes) throws WireException {
        return MessageCodec.decode(ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN));
    }

    @Test
    void everyKindOfMessageIsCovered() {
        assertThat(messages().stream().map(Object::getClass))
                .contains(Message.class.getPermittedSubclasses());
    }

    @ParameterizedTest
    @MethodSource("messages")
    void comesBack(Message message) throws WireException {
        byte[] bytes = encode(message);
        Message back = decode(bytes);
        assertThat(back).hasSameClassAs(message).usingRecursiveComparison().isEqualTo(message);
        assertThat(encode(back)).isEqualTo(bytes);
    }

    @Test
    void entriesOfTheMergeComeBack() throws WireException {
        Message message = new Message.Accept(A, 1, MERGED, 0, List.of());
        assertThat(decode(encode(message))).isEqualTo(message);
        assertThat(encode(message).length).isLessThanOrEqualTo(MessageCodec.sizeBound(message));
    }

    @ParameterizedTest
    @MethodSource("messages")
    void cutOrPaddedIsRefused(Message message) {
        byte[] bytes = encode(message);
        for (int length = 0; length < bytes.length; length++) {
            byte[] cut = Arrays.copyOf(bytes, length);
            assertThatThrownBy(() -> decode(cut)).isInstanceOf(WireException.class);
        }
        assertThatThrownBy(() -> decode(Arrays.copyOf(bytes, bytes.length + 1)))
                .isInstanceOf(WireException.class);
    }

    @Test
    void noiseIsRefusedWithoutHugeAllocations() {
        long seed = System.nanoTime();
        System.out.println("seed " + seed);
        Random random = new Random(seed);
        for (int i = 0; i < 20_000; i++) {
            byte[] noise = new byte[random.nextInt(80) + 1];
            random.nextBytes(noise);
            noise[0] = (byte) random.nextInt(24);
            try {
                decode(noise);
            } catch (WireException e) {
                assertThat(e).as("seed %s", seed).hasMessageNotContaining("null");
            }
        }
    }

    @Test
    void ballotsPackInOrder() {
        assertThat(LogCodec.unpack(LogCodec.pack(B))).isEqualTo(B);
        assertThat(LogCodec.unpack(LogCodec.pack(Ballot.NONE))).isEqualTo(Ballot.NONE);
        assertThat(LogCodec.pack(new Ballot(2, 1))).isGreaterThan(LogCodec.pack(new Ballot(1, 9)));
        assertThat(LogCodec.pack(new Ballot(2, 2))).isGreaterThan(LogCodec.pack(new Ballot(2, 1)));
        assertThat(LogCodec.pack(new Ballot(1, 0, 0)))
                .isGreaterThan(LogCodec.pack(new Ballot(0, (1L << 32) - 1, 0xffff)));
    }
}

package org.globalfs.multicast.wire;

import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.globalfs.multicast.Membership;

/** Byte form of a membership; docs/formats/multicast-wire.md has the table. */
public final class MembershipCodec {
    private static final int LEAST_MEMBER_BYTES = 7;

    private MembershipCodec() {}

    public static byte[] encode(Membership membership) {
        int bound = 8;
        for (Membership.Member member : membership.members()) {
            bound += LEAST_MEMBER_BYTES + 3 * member.address().length();
        }
        ByteBuffer to = ByteBuffer.allocate(bound).order(ByteOrder.LITTLE_ENDIAN);
        put(to, membership);
        byte[] bytes = new byte[to.position()];
        to.flip().get(bytes);
        return bytes;
    }

    /**
     * @throws WireException these bytes are no membership
     */
    public static Membership decode(byte[] bytes) throws WireException {
        try {
            return get(ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN));
        } catch (BufferUnderflowException e) {
            throw new WireException("a membership ends early");
        }
    }

    static void put(ByteBuffer to, Membership membership) {
        to.putInt(membership.generation()).putInt(membership.members().size());
        for (Membership.Member member : membership.members()) {
            byte[] address = member.address().getBytes(StandardCharsets.UTF_8);
            to.putInt(member.id()).put((byte) (member.acceptor() ? 1 : 0));
            to.putShort((short) address.length).put(address);
        }
    }

    static Membership get(ByteBuffer from) throws WireException {
        int generation = from.getInt();
        int count = from.getInt();
        Limits.count(from, count, LEAST_MEMBER_BYTES);
        List<Membership.Member> members = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            int id = from.getInt();
            boolean acceptor = from.get() != 0;
            int length = Short.toUnsignedInt(from.getShort());
            Limits.count(from, length, 1);
            byte[] address = new byte[length];
            from.get(address);
            members.add(
                    new Membership.Member(
                            id, acceptor, new String(address, StandardCharsets.UTF_8)));
        }
        long distinct = members.stream().mapToInt(Membership.Member::id).distinct().count();
        if (generation < 0
                || generation > Membership.MAX_GENERATION
                || distinct != count
                || members.stream().noneMatch(Membership.Member::acceptor)) {
            throw new WireException("a membership that makes no sense");
        }
        return new Membership(generation, members);
    }
}

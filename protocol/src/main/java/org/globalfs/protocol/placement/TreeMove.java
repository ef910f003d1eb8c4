package org.globalfs.protocol.placement;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.globalfs.protocol.Errno;
import org.globalfs.protocol.wire.Attributes;
import org.globalfs.protocol.wire.DirectoryEntry;
import org.globalfs.protocol.wire.GetAttributesOp;
import org.globalfs.protocol.wire.MoveOp;
import org.globalfs.protocol.wire.ReadDirectoryOp;
import org.globalfs.protocol.wire.ReadOp;
import org.globalfs.protocol.wire.ReadReply;
import org.globalfs.protocol.wire.UpdateReply;
import org.jspecify.annotations.Nullable;

/**
 * Lets the inodes of a tree live in another partition. That is many commands, each of which takes
 * some inodes along at once, whole; between them the tree is in use as ever. So a move that was cut
 * short has done a part, and doing it again does the rest. The root directory stays.
 *
 * @param <E> how access to the tree fails
 */
public final class TreeMove<E extends Exception> {

    private static final int TYPE_MASK = 0170000;
    static final int DIRECTORY = 0040000;
    private static final long ROOT_INO = 1;
    private static final int HAS_POLICY = 8;
    private static final int PAGE_ENTRIES = 1000;
    private static final int INODES_A_COMMAND = 1024;

    /** Of what stays: a tree may have many millions of inodes that do. */
    private static final int MOST_KEPT = 1000;

    /** Of records in a command, for trials in which small directories move as large ones do. */
    private static final int BYTES_A_COMMAND = Integer.getInteger("globalfs.move.bytes", 0);

    /** The tree's records, as root. */
    public interface Access<E extends Exception> {
        /** Asks the partition that the inode lives in; an errno is a failure. */
        Answer read(long ino, ReadOp op) throws E;

        /** As {@link #read}, but an errno is an answer. */
        Answer ask(long ino, ReadOp op) throws E;

        /** Brings the command to effect; an errno is a failure. */
        UpdateReply move(MoveOp op) throws E;
    }

    /** A partition's answer. */
    public record Answer(int partition, ReadReply reply) {}

    /** What hears of the move as it goes on, and may end it. */
    public interface Progress {
        /** So many more inodes were moved. */
        void moved(long inodes);

        /** So many bytes of content belong to files that were met at their new home. */
        default void content(long bytes) {}

        /** How many inodes the next command may move at most; more than 0. */
        default long room() {
            return INODES_A_COMMAND;
        }

        /** Whether to go on with the next command. */
        default boolean goesOn() {
            return true;
        }
    }

    /**
     * What goes along.
     *
     * @param from the partition that inodes are taken from: subtrees that live in others stay; or
     *     {@link #ANY}
     * @param apart directories that stay with all below them
     * @param above directories on the way to those
     * @param policies whether those that have a {@link MoveRule#ATTRIBUTE} stay, too
     */
    public record Scope(int from, Set<Long> apart, Set<Long> above, boolean policies) {
        public static final int ANY = -1;

        /** All that can. */
        public static final Scope ALL = new Scope(ANY, Set.of(), Set.of(), false);

        public Scope {
            apart = Set.copyOf(apart);
            above = Set.copyOf(above);
        }

        boolean takesFrom(int partition) {
            return from == ANY || from == partition;
        }
    }

    /**
     * What could not be moved now: it is locked, counted by a quota whose directory does not move,
     * too large, or has content on its way.
     *
     * @param count how many inodes, as far as the walk met them; of more than a thousand, those
     *     with several names may be counted at each
     * @param some of them, the root first: a thousand at most
     */
    public record Stayed(long count, Set<Long> some) {
        public Stayed {
            some = Set.copyOf(some);
        }
    }

    private final Access<E> access;
    private final int to;
    private final Progress progress;
    private final Scope scope;

    /** The first that stayed, which are not asked for again. */
    private final Set<Long> stayed = new HashSet<>();

    /** Of those that were asked for last, the ones that stayed, whether they are kept or not. */
    private final Set<Long> stayedOfAsked = new HashSet<>();

    /** The first of those that are counted: one may have several names, and is met at each. */
    private final Set<Long> counted = new HashSet<>();

    private long stayedCount;

    /** Of what was met in this pass: directories, and what has more names than one. */
    private final Set<Long> met = new HashSet<>();

    private long root;

    /**
     * @param to the partition of the region, or 0
     */
    public TreeMove(Access<E> access, int to, Progress progress, Scope scope) {
        this.access = access;
        this.to = to;
        this.progress = progress;
        this.scope = scope;
    }

    /**
     * Moves what it meets on its way through the tree; most of it goes along with the root. Where
     * policies count, a root that stays ends the pass: what keeps it, as a quota around it, mostly
     * keeps all below it, too, and a policy's tree has its turn again.
     */
    public Stayed pass(long root) throws E {
        begin(root);
        met.clear();
        met.add(root);
        if (root != ROOT_INO) {
            move(List.of(root));
            stayedOfAsked.forEach(this::count);
            if (stayedCount > 0 && scope.policies) {
                return stayed();
            }
        }
        Deque<Long> directories = new ArrayDeque<>();
        ReadOp op = ReadOp.getAttributes(new GetAttributesOp(root));
        if (isDirectory(access.read(root, op).reply().getAttributes())) {
            directories.add(root);
        }
        while (!directories.isEmpty() && progress.goesOn()) {
            directory(directories.poll(), directories);
        }
        return stayed();
    }

    private void begin(long root) {
        this.root = root;
        stayed.clear();
        stayedOfAsked.clear();
        counted.clear();
        stayedCount = 0;
    }

    private void count(long ino) {
        boolean news = counted.size() < MOST_KEPT ? counted.add(ino) : !counted.contains(ino);
        stayedCount += news ? 1 : 0;
    }

    private Stayed stayed() {
        return new Stayed(stayedCount, counted);
    }

    /** How much is kept of what was met. */
    int remembered() {
        return met.size() + stayed.size() + stayedOfAsked.size() + counted.size();
    }

    /** Moves what a directory names, a page at a time, and looks at it at its new home. */
    private void directory(long directory, Deque<Long> directories) throws E {
        long cookie = 0;
        boolean last = false;
        while (!last && progress.goesOn()) {
            Answer page = page(access, directory, cookie);
            List<Long> astray = astray(page);
            stayedOfAsked.clear();
            if (!astray.isEmpty()) {
                move(astray);
                page = page(access, directory, cookie);
            }
            for (DirectoryEntry entry : page.reply.getEntries()) {
                cookie = entry.getCookie();
                look(entry, page.partition, directories);
            }
            last = page.reply.isLast() || page.reply.getEntries().isEmpty();
        }
    }

    /**
     * What a page names and may have to move. Who decides that knows where inodes live that are not
     * with their directory: to ask for each takes a round trip.
     */
    private List<Long> astray(Answer page) {
        List<Long> astray = new ArrayList<>();
        for (DirectoryEntry entry : page.reply.getEntries()) {
            long ino = entry.getIno();
            boolean known = entry.isSetAttributes();
            boolean here = known && page.partition == to;
            boolean another = known && !scope.takesFrom(page.partition);
            boolean apart =
                    scope.apart.contains(ino) || hasOwnPolicy(known ? entry.getAttributes() : null);
            if (!here && !another && !apart && !stayed.contains(ino)) {
                astray.add(ino);
            }
        }
        return astray;
    }

    private void look(DirectoryEntry entry, int partition, Deque<Long> directories) throws E {
        long ino = entry.getIno();
        boolean isDirectory = entry.getType() == DIRECTORY;
        if (met.contains(ino) || scope.apart.contains(ino)) {
            return;
        }
        Attributes attributes = entry.isSetAttributes() ? entry.getAttributes() : null;
        int home = partition;
        if (attributes == null && (isDirectory || partition != to)) {
            Answer elsewhere = attributes(access, ino);
            home = elsewhere.partition;
            attributes = elsewhere.reply.getAttributes();
        }
        // What has one name is not met again, and there may be many millions of those.
        if (isDirectory || attributes != null && attributes.getNlink() > 1) {
            met.add(ino);
        }
        boolean here = entry.isSetAttributes() && partition == to;
        if (!here && (stayed.contains(ino) || stayedOfAsked.contains(ino))) {
            count(ino);
        }
        if (isDirectory) {
            boolean inScope = home == to || scope.takesFrom(home);
            if (inScope && !hasOwnPolicy(attributes)) {
                directories.add(ino);
            }
        } else if (home == to && attributes != null) {
            progress.content(attributes.getAllocated());
        }
    }

    /** Moves what a directory names that is no directory, wherever it is. */
    public Stayed files(long directory) throws E {
        begin(directory);
        Set<Long> astray = new LinkedHashSet<>();
        list(
                access,
                directory,
                (entry, home, attributes) -> {
                    if (entry.getType() != DIRECTORY && home != to) {
                        astray.add(entry.getIno());
                    }
                    if (astray.size() == PAGE_ENTRIES) {
                        moveFiles(astray);
                    }
                });
        moveFiles(astray);
        return stayed();
    }

    private void moveFiles(Set<Long> astray) throws E {
        move(List.copyOf(astray));
        stayedOfAsked.forEach(this::count);
        astray.clear();
    }

    /** Those above an exception go alone, the others with all below them. */
    private void move(List<Long> inodes) throws E {
        stayedOfAsked.clear();
        Set<Long> asked = new HashSet<>(inodes);
        Deque<Long> left = new ArrayDeque<>();
        for (long ino : inodes) {
            if (!scope.above.contains(ino)) {
                left.add(ino);
            } else {
                moveAlone(ino);
            }
        }
        while (!left.isEmpty() && progress.goesOn()) {
            List<Long> some = new ArrayList<>();
            while (some.size() < INODES_A_COMMAND && !left.isEmpty()) {
                some.add(left.poll());
            }
            int limit = Math.clamp(progress.room(), 1, INODES_A_COMMAND);
            UpdateReply reply = command(new MoveOp(some, to).setLimit(limit), asked);
            List<Long> rest = new ArrayList<>(reply.getRest());
            rest.removeAll(stayed);
            for (int i = rest.size() - 1; i >= 0; i--) {
                left.addFirst(rest.get(i));
            }
        }
    }

    /** A large directory goes in several commands, and is left over by all but the last. */
    private void moveAlone(long ino) throws E {
        boolean left = true;
        while (left && progress.goesOn()) {
            UpdateReply reply = command(new MoveOp(List.of(ino), to).setLimit(1), Set.of(ino));
            left = reply.getRest().contains(ino);
        }
    }

    static boolean isDirectory(Attributes attributes) {
        return (attributes.getMode() & TYPE_MASK) == DIRECTORY;
    }

    private boolean hasOwnPolicy(@Nullable Attributes attributes) {
        return scope.policies
                && attributes != null
                && isDirectory(attributes)
                && (attributes.getExtended() & HAS_POLICY) != 0;
    }

    private UpdateReply command(MoveOp op, Set<Long> asked) throws E {
        if (scope.policies) {
            op.setTree(root);
        }
        if (BYTES_A_COMMAND > 0) {
            op.setBytes(BYTES_A_COMMAND);
        }
        if (scope.from != Scope.ANY) {
            op.setSource(scope.from);
        }
        UpdateReply reply = access.move(op);
        progress.moved(reply.getDone());
        for (long ino : reply.getStayed()) {
            if (stayed.size() < MOST_KEPT) {
                stayed.add(ino);
            }
            if (asked.contains(ino)) {
                stayedOfAsked.add(ino);
            }
        }
        return reply;
    }

    /** What is told of each name. */
    public interface Visitor<E extends Exception> {
        /**
         * @param home the partition that the inode lives in
         * @param attributes the inode's; null: it is gone
         */
        void visit(DirectoryEntry entry, int home, @Nullable Attributes attributes) throws E;
    }

    /** Visits a directory's names. */
    public static <E extends Exception> void list(
            Access<E> access, long directory, Visitor<E> visitor) throws E {
        long cookie = 0;
        boolean last = false;
        while (!last) {
            Answer answer = page(access, directory, cookie);
            ReadReply page = answer.reply();
            for (DirectoryEntry entry : page.getEntries()) {
                cookie = entry.getCookie();
                if (entry.isSetAttributes()) {
                    visitor.visit(entry, answer.partition(), entry.getAttributes());
                } else {
                    Answer elsewhere = attributes(access, entry.getIno());
                    visitor.visit(entry, elsewhere.partition(), elsewhere.reply().getAttributes());
                }
            }
            last = page.isLast() || page.getEntries().isEmpty();
        }
    }

    private static <E extends Exception> Answer attributes(Access<E> access, long ino) throws E {
        return access.ask(ino, ReadOp.getAttributes(new GetAttributesOp(ino)));
    }

    /** One that somebody has removed since it was met names nothing any more. */
    private static <E extends Exception> Answer page(Access<E> access, long directory, long cookie)
            throws E {
        ReadOp op =
                ReadOp.readDirectory(
                        new ReadDirectoryOp(directory, cookie, PAGE_ENTRIES).setAttributes(true));
        Answer answer = access.ask(directory, op);
        if (answer.reply.getErrno() == 0) {
            return answer;
        }
        int errno = answer.reply.getErrno();
        // Of an inode that is nowhere any more replicas say ESTALE.
        boolean gone = errno == Errno.ENOENT.number() || errno == Errno.ESTALE.number();
        return gone
                ? new Answer(answer.partition, new ReadReply().setEntries(List.of()).setLast(true))
                : access.read(directory, op);
    }
}

package org.globalfs.client.vfs;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.globalfs.protocol.Errno;
import org.globalfs.protocol.wire.DirectoryEntry;
import org.globalfs.protocol.wire.LookupOp;
import org.globalfs.protocol.wire.Quota;
import org.globalfs.protocol.wire.QuotaOp;
import org.globalfs.protocol.wire.ReadDirectoryOp;
import org.globalfs.protocol.wire.ReadOp;
import org.globalfs.protocol.wire.ReadReply;
import org.globalfs.protocol.wire.SetQuotaOp;

/**
 * Quotas by directory tree. They are read and set as extended attributes of the directory: {@code
 * user.globalfs.quota.bytes} and {@code .inodes} are its own limits, {@code user.globalfs.quota}
 * tells all that count it, and sets both at once.
 */
final class Quotas {

    static final String ALL = "user.globalfs.quota";
    private static final String BYTES = ALL + ".bytes";
    private static final String INODES = ALL + ".inodes";
    private static final int PAGE_ENTRIES = 4000;
    private static final int DEPTH_MAX = 4096;

    private final Requests requests;

    Quotas(Requests requests) {
        this.requests = requests;
    }

    static boolean isOne(byte[] name) {
        return switch (new String(name, US_ASCII)) {
            case ALL, BYTES, INODES -> true;
            default -> false;
        };
    }

    /** The quotas that count an inode, the innermost first. */
    List<Quota> of(Caller caller, long ino) throws FsException {
        ReadOp op = ReadOp.quota(new QuotaOp().setIno(ino));
        List<Quota> quotas = requests.read(caller, requests.home(ino), op).reply().getQuotas();
        return quotas == null ? List.of() : quotas;
    }

    byte[] get(Caller caller, long ino, byte[] name) throws FsException {
        List<Quota> quotas = of(caller, ino);
        String which = new String(name, US_ASCII);
        StringBuilder text = new StringBuilder();
        if (which.equals(ALL)) {
            quotas.forEach(quota -> text.append(usage(quota, "").line()).append('\n'));
        } else if (!quotas.isEmpty() && quotas.getFirst().getIno() == ino) {
            Quota own = quotas.getFirst();
            long limit = which.equals(BYTES) ? own.getBytes() : own.getInodes();
            text.append(limit == 0 ? "" : Long.toString(limit));
        }
        if (text.isEmpty()) {
            throw FsException.of(Errno.ENODATA);
        }
        return text.toString().getBytes(UTF_8);
    }

    private static QuotaUsage usage(Quota quota, String path) {
        return new QuotaUsage(
                quota.getIno(),
                quota.getBytes(),
                quota.getUsedBytes(),
                quota.getInodes(),
                quota.getUsedInodes(),
                quota.isCounting(),
                path);
    }

    /** What setting the attribute means; the value {@code bytes=N inodes=N}, or one number. */
    static SetQuotaOp setting(long ino, byte[] name, byte[] value) throws FsException {
        SetQuotaOp op = new SetQuotaOp(ino);
        String text = new String(value, US_ASCII).strip();
        switch (new String(name, US_ASCII)) {
            case BYTES -> op.setBytes(number(text));
            case INODES -> op.setInodes(number(text));
            default -> {
                for (String field : text.split("\\s+")) {
                    if (field.startsWith("bytes=")) {
                        op.setBytes(number(field.substring("bytes=".length())));
                    } else if (field.startsWith("inodes=")) {
                        op.setInodes(number(field.substring("inodes=".length())));
                    } else {
                        throw FsException.of(Errno.EINVAL);
                    }
                }
            }
        }
        return op;
    }

    private static long number(String text) throws FsException {
        try {
            long number = Long.parseLong(text);
            if (number >= 0) {
                return number;
            }
        } catch (NumberFormatException e) {
            throw FsException.of(Errno.EINVAL, "not a limit: " + e.getMessage());
        }
        throw FsException.of(Errno.EINVAL);
    }

    static SetQuotaOp clearing(long ino, byte[] name) {
        String which = new String(name, US_ASCII);
        SetQuotaOp op = new SetQuotaOp(ino);
        if (!which.equals(INODES)) {
            op.setBytes(0);
        }
        if (!which.equals(BYTES)) {
            op.setInodes(0);
        }
        return op;
    }

    /** All quotas of all partitions, with paths. */
    List<QuotaUsage> all(Caller caller) throws FsException {
        List<QuotaUsage> all = new ArrayList<>();
        Paths paths = new Paths(caller);
        for (int partition : requests.client().partitions()) {
            long after = 0;
            boolean last = false;
            while (!last) {
                ReadOp op = ReadOp.quota(new QuotaOp().setAfter(after));
                ReadReply reply = requests.read(caller, partition, op).reply();
                for (Quota quota : reply.getQuotas()) {
                    all.add(usage(quota, paths.of(quota.getIno())));
                    after = quota.getId();
                }
                last = reply.isLast() || reply.getQuotas().isEmpty();
            }
        }
        return all;
    }

    /** Finds directories' paths upwards; reads each directory on the way once. */
    private final class Paths {
        private final Caller caller;
        private final Map<Long, Long> parents = new HashMap<>();
        private final Map<Long, String> names = new HashMap<>();

        Paths(Caller caller) {
            this.caller = caller;
        }

        /** Empty when it has none (any more). */
        String of(long directory) {
            StringBuilder path = new StringBuilder();
            try {
                long at = directory;
                for (int depth = 0; at != FileSystem.ROOT && depth < DEPTH_MAX; depth++) {
                    long parent = parent(at);
                    if (!names.containsKey(at)) {
                        list(parent);
                    }
                    String name = names.get(at);
                    if (name == null) {
                        return "";
                    }
                    path.insert(0, "/" + name);
                    at = parent;
                }
            } catch (FsException removedMeanwhile) {
                return "";
            }
            return path.isEmpty() ? "/" : path.toString();
        }

        private long parent(long ino) throws FsException {
            Long known = parents.get(ino);
            if (known == null) {
                LookupOp op = new LookupOp(ino, ByteBuffer.wrap("..".getBytes(US_ASCII)));
                ReadOp read = ReadOp.lookup(op);
                known = requests.read(caller, requests.home(ino), read).reply().getIno();
                parents.put(ino, known);
            }
            return known;
        }

        private void list(long directory) throws FsException {
            long cookie = 0;
            boolean last = false;
            while (!last) {
                ReadOp op =
                        ReadOp.readDirectory(new ReadDirectoryOp(directory, cookie, PAGE_ENTRIES));
                ReadReply page = requests.read(caller, requests.home(directory), op).reply();
                for (DirectoryEntry entry : page.getEntries()) {
                    if (entry.getType() == Stat.DIRECTORY) {
                        names.put(entry.getIno(), new String(entry.getName(), UTF_8));
                    }
                    cookie = entry.getCookie();
                }
                last = page.isLast() || page.getEntries().isEmpty();
            }
        }
    }
}

package org.globalfs.datastore.node;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.LinkedHashMap;
import java.util.Map;
import org.globalfs.protocol.FolderInUseException;
import org.globalfs.protocol.Folders;
import org.globalfs.protocol.ForeignFolderException;
import org.jspecify.annotations.Nullable;

/** A storage node's folder: says whose it is, and keeps a second process out. */
public final class DataFolder implements AutoCloseable {
    private static final String IDENTITY = "storage-node.identity";
    private static final String LOCK = "lock";
    private static final int FORMAT = 1;

    private final Path path;
    private final FileChannel lockFile;

    private DataFolder(Path path, FileChannel lockFile) {
        this.path = path;
        this.lockFile = lockFile;
    }

    /** Opens the folder, made when missing, for the node; refuses another cluster's or node's. */
    public static DataFolder open(Path path, String cluster, String node) throws IOException {
        Folders.createPrivate(path);
        FileChannel lockFile =
                FileChannel.open(
                        path.resolve(LOCK), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        try {
            if (tryLock(lockFile) == null) {
                throw new FolderInUseException(
                        path
                                + " is in use by another process: stop it, or give this node a folder of its own");
            }
            checkIdentity(path, cluster, node);
            return new DataFolder(path, lockFile);
        } catch (IOException | RuntimeException e) {
            lockFile.close();
            throw e;
        }
    }

    private static @Nullable FileLock tryLock(FileChannel lockFile) throws IOException {
        try {
            return lockFile.tryLock();
        } catch (OverlappingFileLockException e) {
            return null; // held by another node of this process
        }
    }

    private static void checkIdentity(Path path, String cluster, String node) throws IOException {
        Path identity = path.resolve(IDENTITY);
        if (!Files.exists(identity)) {
            String text = "format: " + FORMAT + "\ncluster: " + cluster + "\nnode: " + node + "\n";
            Folders.write(identity, text);
            return;
        }
        Map<String, String> fields = new LinkedHashMap<>();
        for (String line : Files.readAllLines(identity)) {
            int colon = line.indexOf(": ");
            if (colon > 0) {
                fields.put(line.substring(0, colon), line.substring(colon + 2));
            }
        }
        expect(
                identity,
                "format",
                Integer.toString(FORMAT),
                fields,
                "use the program version that wrote it");
        expect(identity, "cluster", cluster, fields, "give this node another data folder");
        expect(identity, "node", node, fields, "give this node another data folder, or its old id");
    }

    private static void expect(
            Path identity, String key, String wanted, Map<String, String> fields, String mend)
            throws IOException {
        String found = fields.get(key);
        if (!wanted.equals(found)) {
            throw new ForeignFolderException(
                    identity.getParent()
                            + " belongs to "
                            + key
                            + " "
                            + found
                            + ", not "
                            + wanted
                            + ": "
                            + mend);
        }
    }

    /** The folder. */
    public Path path() {
        return path;
    }

    @Override
    public void close() throws IOException {
        lockFile.close();
    }
}

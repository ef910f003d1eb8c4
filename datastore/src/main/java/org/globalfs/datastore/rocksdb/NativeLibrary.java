package org.globalfs.datastore.rocksdb;

import java.io.IOException;
import java.io.InputStream;
import java.net.JarURLConnection;
import java.net.URL;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.HexFormat;
import java.util.List;
import java.util.jar.JarEntry;
import org.globalfs.protocol.Invariant;
import org.jspecify.annotations.Nullable;
import org.rocksdb.NativeLibraryLoader;
import org.rocksdb.RocksDB;
import org.rocksdb.util.Environment;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * RocksDB's library. A copy that was {@link #keep kept} beside the program's jar is used as it is,
 * which shares its memory between processes and makes starts cheaper. Without one it is unpacked in
 * the temporary folder, not beside the data, whose disk may be full, and goes as soon as it is
 * loaded, so that processes which are killed leave no copies behind.
 */
public final class NativeLibrary {
    private static final Logger LOG = LoggerFactory.getLogger(NativeLibrary.class);
    private static final String FOLDER = "native";
    private static boolean loaded;

    private NativeLibrary() {}

    /** Once a process. */
    public static synchronized void load() throws IOException {
        if (loaded) {
            return;
        }
        loaded = loadKept();
        if (loaded) {
            return;
        }
        loadUnpacked(Path.of(System.getProperty("java.io.tmpdir")));
        loaded = true;
    }

    static void loadUnpacked(Path temporary) throws IOException {
        try {
            Path unpacked = Files.createTempDirectory(temporary, "globalfs-native-");
            try {
                NativeLibraryLoader.getInstance().loadLibrary(unpacked.toString());
                RocksDB.loadLibrary();
            } finally {
                delete(unpacked);
            }
        } catch (IOException | UnsatisfiedLinkError e) {
            // A folder that is mounted noexec, full or read-only, or is not there.
            throw new IOException(
                    "RocksDB's library cannot be unpacked in "
                            + temporary
                            + " and used there ("
                            + e
                            + "): mend that, or name another folder with"
                            + " GLOBALFS_JVM_FLAGS=-Djava.io.tmpdir=FOLDER",
                    e);
        }
    }

    private static boolean loadKept() throws IOException {
        Packed packed = Packed.find();
        if (packed == null) {
            return false;
        }
        Path file = packed.file(packed.besideJar());
        if (!packed.isIn(file)) {
            return false;
        }
        try {
            RocksDB.loadLibrary(List.of(parent(file).toString()));
            return true;
        } catch (UnsatisfiedLinkError e) {
            LOG.warn("{} cannot be used: {}", file, e.getMessage());
            return false;
        }
    }

    /**
     * Lets later processes use a copy beside the jar that the library is in, which holds until that
     * jar has another one; nothing happens where it is in none.
     *
     * @throws IOException it cannot be written there, say
     */
    public static void keep() throws IOException {
        Packed packed = Packed.find();
        if (packed != null) {
            packed.unpack(packed.besideJar());
        }
    }

    /** The library as it is in a jar. */
    record Packed(URL url, Path jar, JarEntry entry) {

        /** Null: it is in none, as in a folder of classes. */
        static @Nullable Packed find() throws IOException {
            String name = Environment.getJniLibraryFileName("rocksdb");
            URL url = RocksDB.class.getResource("/" + name);
            if (url == null || !(url.openConnection() instanceof JarURLConnection connection)) {
                return null;
            }
            return new Packed(
                    url,
                    Path.of(connection.getJarFile().getName()).toAbsolutePath(),
                    connection.getJarEntry());
        }

        Path besideJar() {
            return jar.resolveSibling(FOLDER);
        }

        /** Another library has another one: jars may be replaced by older ones, too. */
        Path file(Path folder) {
            return folder.resolve(HexFormat.of().toHexDigits((int) entry.getCrc()))
                    // As RocksDB.loadLibrary(paths) looks for it, which is not its name in the jar.
                    .resolve(Environment.getJniLibraryFileName("rocksdbjni"));
        }

        boolean isIn(Path file) throws IOException {
            return Files.isRegularFile(file) && Files.size(file) == entry.getSize();
        }

        /** Instead of all others. */
        void unpack(Path folder) throws IOException {
            Path file = file(folder);
            if (isIn(file)) {
                return;
            }
            Files.createDirectories(parent(file));
            Path draft =
                    file.resolveSibling(file.getFileName() + "." + ProcessHandle.current().pid());
            try (InputStream from = url.openStream()) {
                Files.copy(from, draft, StandardCopyOption.REPLACE_EXISTING);
                // Or else a power cut could leave a file of this size that is all zeros.
                try (FileChannel channel = FileChannel.open(draft, StandardOpenOption.WRITE)) {
                    channel.force(true);
                }
                Files.move(draft, file, StandardCopyOption.ATOMIC_MOVE);
            } finally {
                Files.deleteIfExists(draft);
            }
            try (DirectoryStream<Path> kept = Files.newDirectoryStream(folder)) {
                for (Path other : kept) {
                    if (!other.equals(parent(file))) {
                        delete(other);
                    }
                }
            }
        }
    }

    private static Path parent(Path file) {
        Path parent = file.getParent();
        Invariant.check(parent != null, "a library without a folder");
        return parent;
    }

    private static void delete(Path folder) throws IOException {
        try (DirectoryStream<Path> files = Files.newDirectoryStream(folder)) {
            for (Path file : files) {
                Files.delete(file);
            }
        }
        Files.delete(folder);
    }
}

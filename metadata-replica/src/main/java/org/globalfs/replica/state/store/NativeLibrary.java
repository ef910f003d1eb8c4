package org.globalfs.replica.state.store;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import org.rocksdb.NativeLibraryLoader;
import org.rocksdb.RocksDB;

/**
 * RocksDB's library, unpacked in the temporary folder, not beside the data, whose disk may be full.
 * It goes as soon as it is loaded, so that processes which are killed leave no copies behind.
 */
final class NativeLibrary {
    private static boolean loaded;

    private NativeLibrary() {}

    /** Once a process. */
    static synchronized void load() throws IOException {
        if (loaded) {
            return;
        }
        Path unpacked = Files.createTempDirectory("globalfs-native-");
        try {
            NativeLibraryLoader.getInstance().loadLibrary(unpacked.toString());
            RocksDB.loadLibrary();
            loaded = true;
        } finally {
            delete(unpacked);
        }
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

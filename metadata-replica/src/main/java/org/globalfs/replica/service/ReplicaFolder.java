package org.globalfs.replica.service;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.globalfs.protocol.Folders;
import org.globalfs.protocol.ForeignFolderException;

/** A replica's data folder, marked with whose it is so that no other replica ever continues it. */
final class ReplicaFolder {

    private static final String MARK = "identity";
    private static final String FORMAT = "globalfs replica 1";

    private ReplicaFolder() {}

    /**
     * Makes the folder, or checks that it is this replica's.
     *
     * @throws IOException it belongs to another cluster, replica or region, or to a newer version
     */
    static void claim(Path folder, String cluster, int replica, int partition) throws IOException {
        String wanted =
                FORMAT
                        + "\ncluster "
                        + cluster
                        + "\nreplica "
                        + replica
                        + "\npartition "
                        + partition
                        + "\n";
        Folders.createPrivate(folder);
        Path mark = folder.resolve(MARK);
        if (!Files.exists(mark)) {
            if (Files.exists(folder.resolve("p0"))) {
                throw new ForeignFolderException(
                        folder
                                + " holds a replica's state but no "
                                + MARK
                                + " file: restore that file, or use an empty folder");
            }
            Folders.write(mark, wanted);
            return;
        }
        String found = Files.readString(mark, StandardCharsets.UTF_8);
        if (!found.startsWith(FORMAT + "\n")) {
            throw new ForeignFolderException(
                    mark
                            + ": unknown format '"
                            + found.lines().findFirst().orElse("")
                            + "': the folder was written by another version of GlobalFS");
        }
        if (!found.equals(wanted)) {
            throw new ForeignFolderException(
                    "data folder "
                            + folder
                            + " belongs to another replica ("
                            + describe(found)
                            + "), this one is "
                            + describe(wanted)
                            + ": configure the folder of this replica, or an empty one");
        }
    }

    private static String describe(String identity) {
        return String.join(", ", identity.lines().skip(1).toList());
    }
}

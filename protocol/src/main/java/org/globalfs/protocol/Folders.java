package org.globalfs.protocol;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Folders and small files that outlive a power failure. */
public final class Folders {
    private static final Set<PosixFilePermission> OWNER_ALONE =
            PosixFilePermissions.fromString("rwx------");

    private Folders() {}

    /** Deletes a folder with what is in it, if it exists. */
    public static void delete(Path folder) throws IOException {
        if (!Files.exists(folder)) {
            return;
        }
        List<Path> all;
        try (Stream<Path> tree = Files.walk(folder)) {
            all = tree.sorted(Comparator.reverseOrder()).toList();
        }
        for (Path path : all) {
            Files.delete(path);
        }
    }

    /**
     * The regular files below a folder that are wanted, in order. What others remove while it is
     * looked at is left out.
     *
     * @throws IOException the folder itself is not there, or something in it may not be read
     */
    public static List<Path> files(Path folder, Predicate<Path> wanted) throws IOException {
        List<Path> found = new ArrayList<>();
        Files.walkFileTree(
                folder,
                new SimpleFileVisitor<>() {
                    @Override
                    public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
                        if (attributes.isRegularFile() && wanted.test(file)) {
                            found.add(file);
                        }
                        return FileVisitResult.CONTINUE;
                    }

                    @Override
                    public FileVisitResult visitFileFailed(Path path, IOException failure)
                            throws IOException {
                        if (failure instanceof NoSuchFileException && !path.equals(folder)) {
                            return FileVisitResult.CONTINUE;
                        }
                        throw failure;
                    }

                    @Override
                    public FileVisitResult postVisitDirectory(
                            Path path, @Nullable IOException failure) throws IOException {
                        return failure == null
                                ? FileVisitResult.CONTINUE
                                : visitFileFailed(path, failure);
                    }
                });
        Collections.sort(found);
        return found;
    }

    /** Makes the folder, and those above it, where missing; a power failure does not undo it. */
    public static void create(Path folder) throws IOException {
        Path parent = folder.toAbsolutePath().getParent();
        if (Files.isDirectory(folder) || parent == null) {
            return;
        }
        create(parent);
        Files.createDirectories(folder);
        sync(parent);
    }

    /**
     * The same for what other users of the machine may not look into, whatever the umask: nobody
     * but the owner may use a folder that is made here. One that is there keeps its modes, and
     * those above it are made as any.
     */
    public static void createPrivate(Path folder) throws IOException {
        Path parent = folder.toAbsolutePath().getParent();
        if (Files.isDirectory(folder) || parent == null) {
            return;
        }
        create(parent);
        // Also where it was made meanwhile, or is a link to a folder.
        Files.createDirectories(folder, PosixFilePermissions.asFileAttribute(OWNER_ALONE));
        sync(parent);
    }

    /**
     * Writes a small file, replacing one of that name, so that after a crash at any moment the old
     * content is there or the new one, and after the return the new one. Uses FILE.new meanwhile;
     * two writers of the same file are not expected.
     */
    public static void write(Path file, String text) throws IOException {
        Path folder = file.toAbsolutePath().getParent();
        Path draft = file.resolveSibling(file.getFileName() + ".new");
        Files.writeString(draft, text);
        sync(draft);
        Files.move(draft, file, StandardCopyOption.ATOMIC_MOVE);
        if (folder != null) {
            sync(folder);
        }
    }

    /** Makes the names in a folder, or a file's content, outlive a crash. */
    public static void sync(Path path) throws IOException {
        try (FileChannel channel = FileChannel.open(path, StandardOpenOption.READ)) {
            channel.force(true);
        }
    }
}

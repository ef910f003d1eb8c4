package org.globalfs.replica.service;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntFunction;
import java.util.regex.Pattern;
import org.globalfs.protocol.Folders;
import org.globalfs.protocol.Shutdown;
import org.globalfs.protocol.rpc.MetadataCalls;
import org.globalfs.protocol.rpc.RpcClient;
import org.globalfs.protocol.rpc.RpcException;
import org.globalfs.protocol.wire.CheckpointFile;
import org.globalfs.protocol.wire.CheckpointReply;
import org.globalfs.protocol.wire.CheckpointRequest;
import org.globalfs.protocol.wire.PieceReply;
import org.globalfs.protocol.wire.PieceRequest;
import org.globalfs.protocol.wire.ReleaseRequest;
import org.globalfs.replica.state.store.Store;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Replaces a partition's state, which the rings' logs no longer reach, by a peer's. */
final class CheckpointFetch {

    private static final Logger LOG = LoggerFactory.getLogger(CheckpointFetch.class);
    private static final Pattern FILE_NAME = Pattern.compile("[A-Za-z0-9_-][A-Za-z0-9._-]*");
    private static final long CALL_TIMEOUT_MS = 60_000;
    private static final long RECOVER_LIMIT_NS = 60_000_000_000L;
    private static final long RECOVER_PAUSE_MS = 500;

    private final IntFunction<List<RpcClient>> peers;
    private final Shutdown shutdown;
    private final AtomicInteger takenOver = new AtomicInteger();

    /**
     * @param peers for each partition the other replicas of it
     */
    CheckpointFetch(IntFunction<List<RpcClient>> peers, Shutdown shutdown) {
        this.peers = peers;
        this.shutdown = shutdown;
    }

    /** Checkpoints taken over since the start. */
    int takenOver() {
        return takenOver.get();
    }

    /**
     * Takes over the first checkpoint that a peer offers at {@code minimum} or later.
     *
     * @return false: no peer could give one
     * @throws IOException this replica's own disk fails
     */
    boolean takeOver(HostedPartition partition, long minimum) throws IOException {
        for (RpcClient peer : peers.apply(partition.partition())) {
            if (shutdown.begun()) {
                return false;
            }
            try {
                if (takeOver(partition, minimum, peer)) {
                    return true;
                }
            } catch (RpcException e) {
                LOG.warn(
                        "partition {}: no checkpoint from {}: {}",
                        partition.partition(),
                        peer.address(),
                        e.getMessage());
            }
        }
        return false;
    }

    /**
     * Replaces a state that was lost before this replica takes part in its rings. When no peer can
     * give one for a while it may take part all the same, in case its log has all of the state, or
     * its vote is wanted; but it answers nothing until it has a state. Without a log it has neither
     * to give, nor does it know of members that were added, so it waits on.
     */
    void recover(HostedPartition partition, boolean hasLog) throws IOException {
        long warnedNs = System.nanoTime();
        while (partition.isLost() && !shutdown.begun() && !takeOver(partition, 1)) {
            if (peers.apply(partition.partition()).isEmpty()) {
                return;
            }
            if (System.nanoTime() - warnedNs > RECOVER_LIMIT_NS) {
                LOG.error(
                        "partition {}: its state was lost, and no other replica can give one: {};"
                                + " start the others",
                        partition.partition(),
                        hasLog ? "goes on with what the log holds" : "waits for one");
                if (hasLog) {
                    return;
                }
                warnedNs = System.nanoTime();
            }
            shutdown.await(RECOVER_PAUSE_MS, TimeUnit.MILLISECONDS);
        }
    }

    private boolean takeOver(HostedPartition partition, long minimum, RpcClient peer)
            throws IOException, RpcException {
        CheckpointReply offer =
                peer.call(
                        MetadataCalls.CHECKPOINT,
                        new CheckpointRequest(partition.partition(), minimum).setPieceSums(true),
                        CALL_TIMEOUT_MS);
        if (offer.getId() == 0 || offer.getInstance() < minimum) {
            return false;
        }
        LOG.info(
                "partition {}: fetching the checkpoint at {} of {}",
                partition.partition(),
                offer.getInstance(),
                peer.address());
        try {
            Path incoming = partition.newIncoming();
            for (CheckpointFile file : offer.getFiles()) {
                if (!fetch(peer, offer.getId(), file, incoming)) {
                    return false;
                }
            }
            Folders.sync(incoming);
            Optional<String> damage = Store.damage(incoming);
            if (damage.isPresent()) {
                LOG.error("{}: its checkpoint is damaged: {}", peer.address(), damage.get());
                return false;
            }
        } finally {
            release(peer, offer.getId());
        }
        takenOver.incrementAndGet(); // before anybody sees the state that it brings
        partition.exchange();
        LOG.info("partition {}: continues at {}", partition.partition(), partition.applied());
        return true;
    }

    /** False: what arrived is not what the peer announced. */
    private boolean fetch(RpcClient peer, long id, CheckpointFile file, Path incoming)
            throws IOException, RpcException {
        if (!FILE_NAME.matcher(file.getName()).matches()) {
            LOG.error(
                    "{} offers a checkpoint with a file named '{}'",
                    peer.address(),
                    file.getName());
            return false;
        }
        Path path = incoming.resolve(file.getName());
        boolean sound = true;
        boolean summed = true;
        try (FileChannel channel =
                FileChannel.open(path, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
            long offset = 0;
            while (offset < file.getSize()) {
                if (shutdown.begun()) {
                    return false;
                }
                PieceRequest request =
                        new PieceRequest(
                                id, file.getName(), offset, CheckpointSource.MAX_PIECE_BYTES);
                PieceReply piece =
                        peer.call(MetadataCalls.CHECKPOINT_PIECE, request, CALL_TIMEOUT_MS);
                ByteBuffer data = piece.bufferForData();
                if (!data.hasRemaining()) {
                    LOG.error(
                            "{}: {} ends at {}, not at {}",
                            peer.address(),
                            file.getName(),
                            offset,
                            file.getSize());
                    return false;
                }
                offset += data.remaining();
                summed &= piece.isSetCrc32c();
                sound &=
                        !piece.isSetCrc32c()
                                || CheckpointSource.crc(data.duplicate()) == piece.getCrc32c();
                while (data.hasRemaining()) {
                    channel.write(data);
                }
            }
            channel.force(true);
        }
        // One of before has a checksum of the whole file only.
        if (!sound || !summed && CheckpointSource.crc(path) != file.getCrc32c()) {
            LOG.error("{}: {} arrived damaged", peer.address(), file.getName());
            return false;
        }
        return true;
    }

    private static void release(RpcClient peer, long id) {
        try {
            peer.call(MetadataCalls.RELEASE_CHECKPOINT, new ReleaseRequest(id), CALL_TIMEOUT_MS);
        } catch (RpcException e) {
            // The peer drops it by itself after a while.
            LOG.debug("{}: checkpoint not released: {}", peer.address(), e.getMessage());
        }
    }
}

package org.globalfs.datastore.s3;

import java.io.IOException;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.Base64;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.globalfs.datastore.client.BlockStoreException;
import org.globalfs.datastore.client.BlockStoreException.Reason;
import org.globalfs.protocol.config.S3Bucket;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.auth.credentials.DefaultCredentialsProvider;
import software.amazon.awssdk.awscore.retry.AwsRetryStrategy;
import software.amazon.awssdk.core.checksums.RequestChecksumCalculation;
import software.amazon.awssdk.core.checksums.ResponseChecksumValidation;
import software.amazon.awssdk.core.exception.AbortedException;
import software.amazon.awssdk.core.exception.RetryableException;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.core.sync.ResponseTransformer;
import software.amazon.awssdk.http.ContentStreamProvider;
import software.amazon.awssdk.http.urlconnection.UrlConnectionHttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.s3.LegacyMd5Plugin;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.S3ClientBuilder;
import software.amazon.awssdk.services.s3.model.GetObjectResponse;
import software.amazon.awssdk.services.s3.model.ListObjectsV2Response;
import software.amazon.awssdk.services.s3.model.ObjectIdentifier;
import software.amazon.awssdk.services.s3.model.S3Error;
import software.amazon.awssdk.services.s3.model.S3Exception;

/**
 * One region's bucket. The client is made when it is needed first: loading it takes a second, and
 * not every mount reads every region. Thread-safe.
 */
final class Bucket implements AutoCloseable {
    /** As many as S3 takes in a request. */
    static final int MOST_KEYS = 1_000;

    private static final int CONNECT_MS = 5_000;
    private static final int INVALID_RANGE = 416;
    private static final int NOT_FOUND = 404;
    private static final int FORBIDDEN = 403;
    private static final int INSUFFICIENT_STORAGE = 507;
    private static final String OCTETS = "application/octet-stream";

    /** How services that have a limit say that it is reached. */
    private static final Set<String> FULL =
            Set.of(
                    "QuotaExceeded",
                    "ServiceQuotaExceededException",
                    "InsufficientStorage",
                    "InsufficientCapacity",
                    "XMinioStorageFull",
                    "XMinioAdminBucketQuotaExceeded",
                    "BucketQuotaExceeded");

    private static final int KEPT_CONNECTIONS = 64;

    private static final long SUSPECT_NS = TimeUnit.SECONDS.toNanos(10);

    private final S3Bucket place;
    private final S3BlockStore.Options options;
    private final Semaphore permits;
    private @Nullable S3Client client;
    private boolean closed;
    private volatile long failedUntilNs = System.nanoTime();
    private volatile long lateUntilNs = System.nanoTime();
    private volatile boolean read;
    private volatile long answeredNs = System.nanoTime();
    private final RequestTime way = new RequestTime();

    Bucket(S3Bucket place, S3BlockStore.Options options) {
        this.place = place;
        this.options = options;
        permits = new Semaphore(options.transfers());
    }

    /** For requests that operations wait for. */
    Semaphore permits() {
        return permits;
    }

    /** Returns once S3 has said that it keeps the object. */
    void put(String key, byte[] object) throws BlockStoreException {
        try {
            client().putObject(
                            request ->
                                    request.bucket(place.bucket())
                                            .key(key)
                                            .contentMD5(md5(object))
                                            .contentType(OCTETS),
                            RequestBody.fromContentProvider(
                                    ContentStreamProvider.fromByteArrayUnsafe(object),
                                    object.length,
                                    OCTETS));
        } catch (SdkException e) {
            throw failed("writing", e);
        }
    }

    /** Without it what a network garbles would be acknowledged; every service knows this one. */
    private static String md5(byte[] object) {
        try {
            return Base64.getEncoder()
                    .encodeToString(MessageDigest.getInstance("MD5").digest(object));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has MD5", e);
        }
    }

    /** Bytes of an object, fewer if it is shorter; null: there is no such object. */
    byte @Nullable [] get(String key, ObjectFormat.Span span) throws BlockStoreException {
        boolean counts = read; // else it is loading the client and connecting that take so long
        long start = System.nanoTime();
        ResponseTransformer<GetObjectResponse, byte[]> bytes =
                (response, stream) -> {
                    long now = System.nanoTime();
                    answeredNs = now;
                    lateUntilNs = now;
                    if (counts) {
                        way.record(now - start, now);
                    }
                    try {
                        return stream.readNBytes(span.bytes());
                    } catch (IOException e) {
                        throw RetryableException.create("the answer broke off", e);
                    }
                };
        try {
            byte[] answer =
                    client().getObject(
                                    request ->
                                            request.bucket(place.bucket())
                                                    .key(key)
                                                    .range(
                                                            "bytes="
                                                                    + span.from()
                                                                    + "-"
                                                                    + (span.to() - 1)),
                                    bytes);
            read = true;
            return answer;
        } catch (S3Exception e) {
            answeredNs = System.nanoTime();
            lateUntilNs = answeredNs;
            if (e.statusCode() == INVALID_RANGE) {
                return new byte[0];
            }
            if (e.statusCode() == NOT_FOUND && code(e).equals("NoSuchKey")) {
                return null;
            }
            failedUntilNs = System.nanoTime() + SUSPECT_NS;
            throw failed("reading", e);
        } catch (SdkException e) {
            boolean unwanted =
                    e instanceof AbortedException || Thread.currentThread().isInterrupted();
            long now = System.nanoTime();
            if (!unwanted) {
                failedUntilNs = now + SUSPECT_NS;
            } else if (now - start > S3BlockStore.LATE_NS / 2 && !hasAnsweredSince(start)) {
                lateUntilNs = now + SUSPECT_NS;
            }
            throw failed("reading", e);
        }
    }

    /** Whether this process has read something of it: it is connected then. */
    boolean wasRead() {
        return read;
    }

    /** Whether it has begun to answer any read since then. */
    boolean hasAnsweredSince(long ns) {
        return answeredNs - ns > 0;
    }

    /** How long it takes to begin an answer; {@link RequestTime#UNKNOWN}. */
    long wayNs() {
        return way.ns(System.nanoTime());
    }

    /** Whether a read of it has just failed, or was late and it has not answered one since. */
    boolean isSuspect() {
        long now = System.nanoTime();
        return failedUntilNs - now > 0 || lateUntilNs - now > 0;
    }

    /** Calls with the names of all objects that begin so, in order. */
    void list(String prefix, Consumer<String> each) throws BlockStoreException {
        try {
            client().listObjectsV2Paginator(
                            request -> request.bucket(place.bucket()).prefix(prefix))
                    .contents()
                    .forEach(object -> each.accept(object.key()));
        } catch (SdkException e) {
            throw failed("listing", e);
        }
    }

    /** An object as a listing has it. */
    record Listed(String key, long bytes) {}

    /**
     * The next objects of a listing.
     *
     * @param last there are no more behind them
     */
    record Page(List<Listed> objects, boolean last) {}

    /**
     * Objects whose names begin so and come behind a name, in order; {@link #MOST_KEYS} at most.
     */
    Page list(String prefix, String behind, int most) throws BlockStoreException {
        try {
            ListObjectsV2Response page =
                    client().listObjectsV2(request ->
                            request.bucket(place.bucket())
                                    .prefix(prefix)
                                    .startAfter(behind)
                                    .maxKeys(most));
            return new Page(
                    page.contents().stream()
                            .map(object -> new Listed(object.key(), object.size()))
                            .toList(),
                    !page.isTruncated());
        } catch (SdkException e) {
            throw failed("listing", e);
        }
    }

    /** The region whose bucket it is. */
    String region() {
        return place.region();
    }

    /**
     * Deletes objects, whether they are there or not.
     *
     * @return those that may still be there
     */
    Set<String> delete(List<String> keys) throws BlockStoreException {
        List<ObjectIdentifier> objects =
                keys.stream().map(key -> ObjectIdentifier.builder().key(key).build()).toList();
        try {
            List<S3Error> errors =
                    client().deleteObjects(request ->
                                    request.bucket(place.bucket())
                                            .delete(d -> d.objects(objects).quiet(true)))
                            .errors();
            Set<String> left = new HashSet<>();
            for (S3Error error : errors) {
                if (!"NoSuchKey".equals(error.code())) {
                    left.add(error.key());
                }
            }
            return left;
        } catch (SdkException e) {
            throw failed("deleting from", e);
        }
    }

    private BlockStoreException failed(String doing, SdkException e) {
        boolean full =
                e instanceof S3Exception s3
                        && (s3.statusCode() == INSUFFICIENT_STORAGE || FULL.contains(code(s3)));
        return new BlockStoreException(
                full ? Reason.NO_SPACE : Reason.UNREACHABLE,
                doing + " " + place + " failed: " + describe(e),
                e);
    }

    private static String describe(SdkException e) {
        if (!(e instanceof S3Exception s3)) {
            String message = String.valueOf(e.getMessage());
            return message.contains("Unable to load credentials")
                    ? "no credentials were found: set AWS_ACCESS_KEY_ID and"
                            + " AWS_SECRET_ACCESS_KEY, or write ~/.aws/credentials"
                    : message;
        }
        String said = code(s3);
        String remedy =
                switch (s3.statusCode()) {
                    case NOT_FOUND -> ": create it, or correct the key 'blocks.s3'";
                    case FORBIDDEN ->
                            ": use credentials that may read, write and delete its objects";
                    default -> "";
                };
        return (said.isEmpty() ? "" : said + " ") + "(HTTP " + s3.statusCode() + ")" + remedy;
    }

    private static String code(S3Exception e) {
        return e.awsErrorDetails() == null || e.awsErrorDetails().errorCode() == null
                ? ""
                : e.awsErrorDetails().errorCode();
    }

    private synchronized S3Client client() throws BlockStoreException {
        if (closed) {
            throw new BlockStoreException(Reason.CLOSED, "the block store is closed");
        }
        S3Client made = client;
        if (made == null) {
            made = connect();
            client = made;
        }
        return made;
    }

    /** Nothing is sent yet. */
    private S3Client connect() {
        // The JDK keeps five idle connections a host, and would close and open all others.
        if (System.getProperty("http.maxConnections") == null) {
            System.setProperty("http.maxConnections", Integer.toString(KEPT_CONNECTIONS));
        }
        S3ClientBuilder builder =
                S3Client.builder()
                        .region(Region.of(place.awsRegion()))
                        .forcePathStyle(place.pathStyle())
                        .credentialsProvider(DefaultCredentialsProvider.builder().build())
                        .httpClientBuilder(
                                UrlConnectionHttpClient.builder()
                                        .connectionTimeout(Duration.ofMillis(CONNECT_MS))
                                        .socketTimeout(
                                                Duration.ofMillis(options.requestTimeoutMs())))
                        .overrideConfiguration(c ->
                                c.apiCallTimeout(Duration.ofMillis(options.deadlineMs()))
                                        .retryStrategy(
                                                AwsRetryStrategy.standardRetryStrategy().toBuilder()
                                                        .maxAttempts(options.attempts())
                                                        .build()))
                        // Not every service knows the newer checksums; objects have their own.
                        .requestChecksumCalculation(RequestChecksumCalculation.WHEN_REQUIRED)
                        .responseChecksumValidation(ResponseChecksumValidation.WHEN_REQUIRED)
                        .addPlugin(LegacyMd5Plugin.create());
        place.endpoint().ifPresent(builder::endpointOverride);
        return builder.build();
    }

    @Override
    public String toString() {
        return place.toString();
    }

    @Override
    public synchronized void close() {
        closed = true;
        if (client != null) {
            client.close();
        }
    }
}

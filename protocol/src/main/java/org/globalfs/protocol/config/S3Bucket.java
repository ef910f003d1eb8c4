package org.globalfs.protocol.config;

import java.net.URI;
import java.net.URISyntaxException;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * The bucket of a region, and how to reach it from here.
 *
 * @param region the region of the cluster, not of the provider
 * @param awsRegion the provider's region, which signatures name
 * @param endpoint of a service other than Amazon's; empty: Amazon's own
 * @param pathStyle the bucket's name is in the path of its URLs, not in the host
 */
public record S3Bucket(
        String region, String bucket, String awsRegion, Optional<URI> endpoint, boolean pathStyle) {
    private static final Pattern BUCKET = Pattern.compile("[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]");
    private static final Pattern AWS_REGION = Pattern.compile("[a-z0-9][a-z0-9-]{0,62}");

    /** What services that have no regions take signatures for. */
    private static final String ANY_AWS_REGION = "us-east-1";

    static S3Bucket read(Yaml yaml) throws ConfigException {
        String region = ServerConfig.name(yaml, "region");
        String bucket = yaml.text("bucket");
        if (!BUCKET.matcher(bucket).matches()) {
            throw yaml.error(
                    "bucket",
                    "'"
                            + bucket
                            + "' is not a bucket's name: use 3 to 63 small letters, digits, '-', '.'");
        }
        Optional<URI> endpoint =
                yaml.has("endpoint") ? Optional.of(endpoint(yaml)) : Optional.empty();
        if (endpoint.isEmpty() && !yaml.has("awsRegion")) {
            throw yaml.error(
                    "awsRegion",
                    "is missing: name the bucket's region at Amazon, or the 'endpoint' of another service");
        }
        String awsRegion = yaml.optionalText("awsRegion").orElse(ANY_AWS_REGION);
        if (!AWS_REGION.matcher(awsRegion).matches()) {
            throw yaml.error("awsRegion", "'" + awsRegion + "' is not a region such as us-west-2");
        }
        boolean pathStyle = yaml.flag("pathStyle", endpoint.isPresent());
        yaml.finish();
        return new S3Bucket(region, bucket, awsRegion, endpoint, pathStyle);
    }

    private static URI endpoint(Yaml yaml) throws ConfigException {
        String text = yaml.text("endpoint");
        URI uri;
        try {
            uri = new URI(text);
        } catch (URISyntaxException e) {
            throw notAnEndpoint(yaml, text);
        }
        boolean web = "http".equals(uri.getScheme()) || "https".equals(uri.getScheme());
        boolean bare =
                uri.getRawQuery() == null
                        && uri.getRawFragment() == null
                        && uri.getRawUserInfo() == null;
        boolean hasPort = uri.getPort() >= -1 && uri.getPort() != 0 && uri.getPort() <= 65_535;
        if (!web || !bare || uri.getHost() == null || !hasPort) {
            throw notAnEndpoint(yaml, text);
        }
        return uri;
    }

    private static ConfigException notAnEndpoint(Yaml yaml, String text) {
        return yaml.error(
                "endpoint",
                "'" + text + "' is not an address: write https://HOST or http://HOST:PORT");
    }

    /** The bucket wherever it is. */
    @Override
    public String toString() {
        return "bucket '"
                + bucket
                + "' of region "
                + region
                + endpoint.map(uri -> " at " + uri).orElse(" in " + awsRegion);
    }
}

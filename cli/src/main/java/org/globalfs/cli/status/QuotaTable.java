package org.globalfs.cli.status;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.globalfs.cli.ExitCode;
import org.globalfs.cli.Failure;
import org.globalfs.client.vfs.QuotaUsage;

/** Quotas for people, and limits as people write them. */
public final class QuotaTable {
    private static final String UNITS = "KMGTPE";

    /** What a row is about. */
    public static final String COUNTED =
            "Counted is what lives in the same partition as the quota's directory; what lives"
                    + " elsewhere below it (globalfs place show) is not.";

    private static final Pattern QUANTITY =
            Pattern.compile("([0-9]+)\\s*([KMGTPE]?)(IB|B)?", Pattern.CASE_INSENSITIVE);

    private QuotaTable() {}

    /** A number such as {@code 10G} or {@code 100k}. */
    public static long quantity(String option, String text, long base) throws Failure {
        Matcher matcher = QUANTITY.matcher(text.strip());
        if (matcher.matches()) {
            try {
                long number = Long.parseLong(matcher.group(1));
                String unit = matcher.group(2).toUpperCase(Locale.ROOT);
                int power = unit.isEmpty() ? 0 : UNITS.indexOf(unit) + 1;
                for (int i = 0; i < power; i++) {
                    number = Math.multiplyExact(number, base);
                }
                return number;
            } catch (ArithmeticException | NumberFormatException e) {
                throw new Failure(ExitCode.USAGE, option + " " + text + " is too large");
            }
        }
        throw new Failure(
                ExitCode.USAGE, option + " " + text + ": write a number such as 500M, 10G or 100k");
    }

    public static QuotaUsage withPath(QuotaUsage quota, String path) {
        return new QuotaUsage(
                quota.ino(),
                quota.bytes(),
                quota.usedBytes(),
                quota.inodes(),
                quota.usedInodes(),
                quota.counting(),
                path);
    }

    public static String of(List<QuotaUsage> quotas) {
        List<List<String>> rows = new ArrayList<>();
        rows.add(List.of("BYTES", "USED", "INODES", "USED", "", "PATH"));
        for (QuotaUsage quota : quotas) {
            rows.add(
                    List.of(
                            quota.bytes() == 0 ? "-" : bytes(quota.bytes()),
                            bytes(quota.usedBytes()),
                            quota.inodes() == 0 ? "-" : Long.toString(quota.inodes()),
                            Long.toString(quota.usedInodes()),
                            quota.counting() ? "counting" : "",
                            quota.path().isEmpty()
                                    ? "inode " + Long.toUnsignedString(quota.ino())
                                    : quota.path()));
        }
        StringBuilder out = new StringBuilder();
        for (List<String> row : rows) {
            String line = String.format(Locale.ROOT, "%12s %12s %12s %12s  %-9s %s", row.toArray());
            out.append(line.stripTrailing()).append('\n');
        }
        return out.toString();
    }

    private static String bytes(long bytes) {
        double value = bytes;
        int unit = 0;
        while (value >= 1024 && unit < UNITS.length()) {
            value /= 1024;
            unit++;
        }
        return unit == 0
                ? bytes + " B"
                : String.format(Locale.ROOT, "%.1f %siB", value, UNITS.charAt(unit - 1));
    }
}

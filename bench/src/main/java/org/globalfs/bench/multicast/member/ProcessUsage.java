package org.globalfs.bench.multicast.member;

import com.sun.management.OperatingSystemMXBean;
import com.sun.management.ThreadMXBean;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.util.Locale;

/** What this process has used since it started. */
record ProcessUsage(long cpuNs, long allocatedBytes, long youngCollections) {

    static ProcessUsage now() {
        OperatingSystemMXBean system =
                ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);
        ThreadMXBean threads = ManagementFactory.getPlatformMXBean(ThreadMXBean.class);
        long young =
                ManagementFactory.getGarbageCollectorMXBeans().stream()
                        .filter(ProcessUsage::isYoung)
                        .mapToLong(GarbageCollectorMXBean::getCollectionCount)
                        .sum();
        return new ProcessUsage(
                system.getProcessCpuTime(), threads.getTotalThreadAllocatedBytes(), young);
    }

    /** The names differ by collector: Copy, PS Scavenge, G1 Young Generation. */
    private static boolean isYoung(GarbageCollectorMXBean collector) {
        String name = collector.getName().toLowerCase(Locale.ROOT);
        return name.equals("copy") || name.contains("scavenge") || name.contains("young");
    }

    @Override
    public String toString() {
        return "cpuNs=%d allocatedBytes=%d youngCollections=%d"
                .formatted(cpuNs, allocatedBytes, youngCollections);
    }
}

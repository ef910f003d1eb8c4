package org.globalfs.replica.service;

import static org.assertj.core.api.Assertions.assertThat;
import static org.globalfs.replica.service.TestSession.ROOT;

import java.nio.file.Path;
import org.globalfs.protocol.Errno;
import org.globalfs.protocol.wire.Quota;
import org.globalfs.protocol.wire.QuotaOp;
import org.globalfs.protocol.wire.ReadOp;
import org.globalfs.protocol.wire.SetQuotaOp;
import org.globalfs.protocol.wire.UpdateOp;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What was in a tree before its quota is counted by running replicas, whoever coordinates. */
@Timeout(120)
final class QuotaServiceTest {

    @TempDir Path folder;

    private static Quota quota(TestSession session, long ino) throws InterruptedException {
        return session.read(1, ReadOp.quota(new QuotaOp().setIno(ino))).getQuotas().getFirst();
    }

    @Test
    void aFullTreeIsCountedAlsoWhenTheCoordinatorDies() throws Exception {
        try (ReplicaCluster cluster =
                new ReplicaCluster(folder, 1, ReplicaOptions.defaults()).startAll()) {
            TestSession session = new TestSession(cluster, 1);
            long home = session.mkdir(ROOT, "home").getAttributes().getIno();
            for (int i = 0; i < 5; i++) {
                long below = session.mkdir(home, "d" + i).getAttributes().getIno();
                for (int j = 0; j < 10; j++) {
                    session.create(below, "f" + j);
                }
            }
            SetQuotaOp op = new SetQuotaOp(home).setInodes(57);
            assertThat(session.update(1, UpdateOp.setQuota(op)).getErrno()).isZero();
            int died = cluster.coordinator(1);
            cluster.crash(died);
            assertThat(session.create(home, "one").getErrno()).isZero();
            Quota quota = quota(session, home);
            while (quota.isCounting()) {
                quota = quota(session, home);
            }
            assertThat(quota.getUsedInodes()).isEqualTo(57);
            assertThat(session.create(home, "two").getErrno()).isEqualTo(Errno.EDQUOT.number());
            cluster.start(died);
            cluster.awaitEqualHashes();
        }
    }
}

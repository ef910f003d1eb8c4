package org.globalfs.replica.state.store;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.AccessDeniedException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.rocksdb.RocksDBException;

class StoreTest {
    private static final Path FOLDER = Path.of("/x/p1");

    private static StateException cannotOpen(String why) {
        return Store.cannotOpen(FOLDER, new RocksDBException(why));
    }

    @Test
    void whatThisUserMayNotOpenIsToldFromWhatFailed() {
        StateException denied = cannotOpen("While open a file: /x/p1/LOG: Permission denied");
        assertThat(denied)
                .hasMessageContaining("/x/p1/LOG")
                .cause()
                .satisfies(cause -> {
                    assertThat(cause).isInstanceOf(AccessDeniedException.class).hasMessage("/x/p1");
                    assertThat(cause).hasCauseInstanceOf(RocksDBException.class);
                });
        assertThat(denied.isDamage()).isFalse();
        assertThat(cannotOpen("While open a file: /x/p1/LOG: Input/output error"))
                .hasCauseInstanceOf(RocksDBException.class);
    }

    @Test
    void theMendIsNamedWhereFilesRunOut() {
        assertThat(cannotOpen("While open a file: /x/p1/LOG: Too many open files"))
                .hasMessageContaining("ulimit -n");
    }
}

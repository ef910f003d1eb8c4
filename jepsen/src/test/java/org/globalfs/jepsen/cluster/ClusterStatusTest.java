package org.globalfs.jepsen.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class ClusterStatusTest {
    private static final String STATUS =
            """
            some remark
            {"cluster": "test", "regions": [
              {"name": "us-west", "replicas": [
                {"id": 11, "datacenter": "a", "rings": [
                  {"ring": 0, "coordinator": 12}, {"ring": 1, "coordinator": 13}]},
                {"id": 12, "datacenter": "b", "rings": [
                  {"ring": 0, "coordinator": 21}, {"ring": 1, "coordinator": -1}]},
                {"id": 13, "datacenter": "c", "rings": []}]},
              {"name": "us-east", "replicas": [
                {"id": 21, "datacenter": "a", "rings": [
                  {"ring": 0, "coordinator": 21}, {"ring": 2, "coordinator": -1}]}]}]}
            """;

    private final ClusterStatus status = ClusterStatus.parse(STATUS);

    @Test
    void theCoordinatorIsWhoMostBelieveItToBe() {
        assertThat(status.coordinator("global")).contains("us-east-a");
    }

    @Test
    void aRegionsReplicasTellItsCoordinator() {
        assertThat(status.coordinator("us-west")).contains("us-west-c");
    }

    @Test
    void thereMayBeNone() {
        assertThat(status.coordinator("us-east")).isEmpty();
        assertThat(status.coordinator("eu-west")).isEmpty();
    }

    @Test
    void replicasThatDidNotAnswerAreNotEqual() {
        assertThat(status.equal()).isFalse();
    }
}

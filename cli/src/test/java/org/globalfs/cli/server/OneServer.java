package org.globalfs.cli.server;

/** The file of a server with a replica and a storage node. */
final class OneServer {
    static final String YAML =
            """
            cluster: demo
            zookeeper: 127.0.0.1:1
            data: data
            region: us-west
            datacenter: a
            roles:
              replica:
                id: 1
              storage:
                - id: s1
                  port: 3
            topology:
              - region: us-west
                partition: 1
                replicas:
                  - {id: 1, datacenter: a, ring: "127.0.0.1:1", rpc: "127.0.0.1:2"}
            """;

    private OneServer() {}
}

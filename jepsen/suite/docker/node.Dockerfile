FROM debian:trixie
RUN apt-get update -q \
    && DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends \
        attr build-essential ca-certificates dpkg fuse3 iproute2 iptables iputils-ping \
        openjdk-25-jdk-headless openssh-server procps psmisc sudo util-linux wget \
    && rm -rf /var/lib/apt/lists/* \
    && mkdir -p /run/sshd ~/.ssh && chmod 700 ~/.ssh
# The control node makes the key.
CMD until [ -s /keys/id_ed25519.pub ]; do sleep 1; done; \
    install -m 600 /keys/id_ed25519.pub ~/.ssh/authorized_keys; \
    exec /usr/sbin/sshd -D -e

FROM clojure:temurin-21-lein
RUN apt-get update -q \
    && DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends \
        git gnuplot-nox graphviz openssh-client \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /suite
CMD [ -s /keys/id_ed25519 ] || ssh-keygen -q -t ed25519 -N '' -f /keys/id_ed25519; exec bash

module globalfs.org/jepsen/agent

go 1.19

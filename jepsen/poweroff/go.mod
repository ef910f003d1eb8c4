module globalfs.org/jepsen/poweroff

go 1.19

(ns globalfs.suite.db
  "GlobalFS on the nodes: a server, a mount and an agent on each, ZooKeeper on the first beside them."
  (:require [clojure.tools.logging :refer [info]]
            [globalfs.suite.agent :as agent]
            [globalfs.suite.cluster :as cluster]
            [jepsen.control :as c]
            [jepsen.control.util :as cu]
            [jepsen.core :as jepsen]
            [jepsen.db :as db]))

(def ^:private home "/opt/globalfs")
(def ^:private jar (str home "/globalfs.jar"))
(def ^:private agent-program (str home "/agent"))
(def ^:private mountpoint (str home "/mnt"))
(def ^:private start-s 300)

(defn- config [process] (str home "/" process ".yaml"))
(defn- log [process] (str home "/" process ".log"))
(defn- pidfile [process] (str home "/" process ".pid"))

(def ^:private java-flags
  [:-XX:+UseSerialGC :-Xmx1g :-XX:-UsePerfData
   "--enable-native-access=ALL-UNNAMED" "--add-modules=jdk.incubator.vector"
   "--sun-misc-unsafe-memory-access=allow"])

(defn- shell
  "Runs a script on the node; its output."
  [script]
  (c/exec :bash :-euo :pipefail :-c script))

(defn- start-server! [process]
  (cu/start-daemon! {:logfile (log process)
                     :pidfile (pidfile process)
                     :chdir home
                     ;; several Java programs run on a node
                     :match-executable? false}
                    "/usr/bin/java"
                    java-flags :-jar jar :server :--config (config process)))

(defn- mount!
  "Until it is mounted: the server may have to find the others first."
  []
  (shell (str "for i in $(seq " start-s "); do "
              "mountpoint -q " mountpoint " && exit 0; "
              "java -XX:+UseSerialGC -Xmx1g --enable-native-access=ALL-UNNAMED"
              " --add-modules=jdk.incubator.vector --sun-misc-unsafe-memory-access=allow"
              " -jar " jar " mount --config " (config "mount") " --background --log " (log "mount")
              " " mountpoint " >> " (log "mount") " 2>&1 && exit 0; "
              "sleep 1; done; exit 1")))

(defn- unmount! []
  (shell (str "umount -l " mountpoint " 2> /dev/null || true")))

(defn- start-agent! []
  ;; it ends with its input, so it is given one that does not end
  (cu/start-daemon! {:logfile (log "agent")
                     :pidfile (pidfile "agent")
                     :chdir home
                     :match-executable? false}
                    "/bin/sh" :-c
                    (str "tail -f /dev/null | " agent-program " -mount " mountpoint
                         " -listen 0.0.0.0:" agent/port)))

(defn- signal!
  "To a node's server and its mount; ZooKeeper and the agent go on."
  [signal]
  (cu/grepkill! signal (str "server --config " (config "server")))
  (cu/grepkill! signal (str "mount --config " (config "mount"))))

(defn- install! [test node jar-here agent-here]
  (let [nodes (:nodes test)]
    (c/exec :mkdir :-p home mountpoint)
    (c/upload jar-here jar)
    (c/upload agent-here agent-program)
    (c/exec :chmod :+x agent-program)
    (cu/write-file! (cluster/zookeeper-yaml nodes) (config "zookeeper"))
    (cu/write-file! (cluster/server-yaml nodes node) (config "server"))
    (cu/write-file! (cluster/mount-yaml nodes node) (config "mount"))))

(defn- make-folders!
  "A folder in two regions' partitions and one in the global partition, seen everywhere."
  [test node]
  (let [[west east] (map (partial cluster/nodes-of (:nodes test)) cluster/regions)]
    (when (= node (first west))
      (shell (str "cd " mountpoint "; mkdir at-us-west;"
                  " setfattr -n user.globalfs.placement -v inherit .;"
                  " mkdir at-global; setfattr -n user.globalfs.placement -v inherit at-global;"
                  " setfattr -n user.globalfs.placement -v creator .")))
    (when (= node (first east))
      (shell (str "cd " mountpoint "; mkdir at-us-east")))
    (shell (str "cd " mountpoint "; for i in $(seq 60); do"
                " [ -d at-us-west ] && [ -d at-us-east ] && [ -d at-global ] && exit 0; sleep 1; done; exit 1"))))

(defrecord GlobalFs [jar-here agent-here]
  db/DB
  (setup! [_ test node]
    (c/su
      (info "installing" jar-here)
      (install! test node jar-here agent-here)
      (when (= node (first (:nodes test)))
        (start-server! "zookeeper")
        (cu/await-tcp-port (:zookeeper cluster/ports)))
      (jepsen/synchronize test start-s)
      (start-server! "server")
      (mount!)
      (start-agent!)
      (cu/await-tcp-port agent/port)
      (jepsen/synchronize test start-s)
      (make-folders! test node)))

  (teardown! [_ _ _]
    (c/su
      (cu/grepkill! (str "agent -mount " mountpoint))
      (signal! 9)
      (cu/grepkill! (str "server --config " (config "zookeeper")))
      (unmount!)
      (c/exec :rm :-rf home)))

  db/Kill
  (kill! [_ _ _]
    (c/su (signal! 9))
    :killed)
  (start! [_ _ _]
    (c/su
      (start-server! "server")
      (mount!))
    :started)

  db/Pause
  (pause! [_ _ _]
    (c/su (signal! :STOP))
    :paused)
  (resume! [_ _ _]
    (c/su (signal! :CONT))
    :resumed)

  db/LogFiles
  (log-files [_ _ _]
    (into {} (for [process ["server" "mount" "agent" "zookeeper"]]
               [(log process) (str process ".log")]))))

(defn db
  "From the program's jar and the agent, files of the control node."
  [{:keys [jar agent]}]
  (->GlobalFs jar agent))

(ns globalfs.suite.runner
  "lein run test --workload NAME …, and lein run test-all: every workload with every kind of fault."
  (:require [clojure.string :as str]
            [globalfs.suite.checkers :as checkers]
            [globalfs.suite.cluster :as cluster]
            [globalfs.suite.db :as db]
            [globalfs.suite.nemesis :as nemesis]
            [globalfs.suite.operations :as operations]
            [globalfs.suite.workload :as workload]
            [jepsen.checker :as checker]
            [jepsen.checker.timeline :as timeline]
            [jepsen.cli :as cli]
            [jepsen.generator :as gen]
            [jepsen.os.debian :as debian]
            [jepsen.tests :as tests])
  (:gen-class))

(def ^:private recovery-s
  "After the last fault, before the operations of the end."
  20)

(def ^:private fault-sets
  "What test-all does beside each workload."
  [#{} #{:kill} #{:pause} #{:partition} #{:kill :pause :partition :packet}])

(defn- generator [{:keys [rate time-limit]} workload nemesis]
  (gen/phases
    (->> (:generator workload)
         (gen/stagger (/ rate))
         (gen/nemesis (:generator nemesis))
         (gen/time-limit time-limit))
    (gen/nemesis (:final-generator nemesis))
    (gen/sleep recovery-s)
    (gen/clients (:final-generator workload))))

(defn globalfs-test
  "A test, of the command line's options."
  [{:keys [nodes faults interval claim] :as opts}]
  (when (not= cluster/size (count nodes))
    (throw (IllegalArgumentException. (str "needs " cluster/size " nodes, three a region, not " (count nodes)))))
  (let [workload-name (:workload opts)
        db (db/db opts)
        workload (workload/workload workload-name {:claim claim})
        nemesis (nemesis/package {:db db :nodes nodes :faults faults :interval interval})]
    (merge tests/noop-test
           opts
           {:name (str/join " " (into ["globalfs" workload-name] (map name (sort faults))))
            :os debian/os
            :db db
            :client (:client workload)
            :nemesis (:nemesis nemesis)
            :generator (generator opts workload nemesis)
            :checker (checker/compose {:workload (:checker workload)
                                       :exceptions (checker/unhandled-exceptions)
                                       :perf (checker/perf {:nemeses (:perf nemesis)})
                                       :timeline (timeline/html)})})))

(defn- parsed-faults [text]
  (into #{} (map keyword) (remove #{"" "none"} (str/split text #","))))

(def ^:private options
  [[nil "--workload NAME" (cli/one-of operations/workloads)
    :default "register"
    :validate [operations/workloads (cli/one-of operations/workloads)]]
   [nil "--faults LIST" (str "Comma-separated, of " (str/join ", " (sort (map name nemesis/faults))) "; none")
    :default #{:kill :pause :partition}
    :parse-fn parsed-faults
    :validate [(partial every? nemesis/faults) "unknown fault"]]
   [nil "--interval SECONDS" "Between faults"
    :default 8
    :parse-fn parse-long
    :validate [pos? "must be positive"]]
   [nil "--rate HZ" "Operations a second, of all clients"
    :default 40
    :parse-fn parse-long
    :validate [pos? "must be positive"]]
   [nil "--claim NAME" "What Elle is asked instead of the workload's own claim: strict, sequential, causal"
    :parse-fn keyword
    :validate [checkers/claims (cli/one-of checkers/claims)]]
   [nil "--jar FILE" "GlobalFS's program, on this machine" :default "/globalfs/globalfs.jar"]
   [nil "--agent FILE" "The agent, built for the nodes, on this machine" :default "/globalfs/agent"]])

(defn- all-tests
  "Every workload with every kind of fault; with --workload or --faults only those."
  [{:keys [workload faults] :as opts}]
  (for [workload-name (if workload [workload] (keys operations/workloads))
        faults (if faults [faults] fault-sets)]
    (globalfs-test (assoc opts :workload workload-name :faults faults))))

(defn -main
  [& args]
  (cli/run! (merge (cli/single-test-cmd {:test-fn globalfs-test :opt-spec options})
                   (cli/test-all-cmd {:tests-fn all-tests
                                      :opt-spec (cli/without-defaults-for [:workload :faults] options)})
                   (cli/serve-cmd))
            args))

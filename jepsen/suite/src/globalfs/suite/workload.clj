(ns globalfs.suite.workload
  "A workload as Jepsen wants it: client, generators, checker."
  (:require [globalfs.suite.checkers :as checkers]
            [globalfs.suite.client :as client]
            [globalfs.suite.operations :as operations]
            [globalfs.suite.plans :as plans]
            [jepsen.generator :as gen]
            [jepsen.generator.context :as context]
            [jepsen.random :as random]))

(defn- draw [below]
  (random/long below))

(defn- planned!
  "The next operation of a process; what is remembered changes."
  [{:keys [next]} memory process]
  (loop []
    (let [before @memory
          [after operation] (next before process draw)]
      (if (compare-and-set! memory before after)
        operation
        (recur)))))

;; Jepsen may ask for an operation and not do it: plans skip numbers then, which harms none of them.
(defrecord Planned [plan memory]
  gen/Generator
  (op [this _ ctx]
    (if-let [process (context/some-free-process ctx)]
      [(gen/fill-in-op (assoc (planned! plan memory process) :process process) ctx) this]
      [:pending this]))

  (update [this _ _ _] this))

(def ^:private linear-operations
  "What an order is searched of: the search grows with them."
  190)

(def ^:private last-tries 20)

(defn- at-the-end
  "One after the other, each until it is done."
  [operations]
  (apply gen/phases
         (for [operation operations]
           (gen/limit last-tries (gen/until-ok (gen/repeat operation))))))

(defn workload
  "By name. Each has folders of its own, so that a cluster can serve several."
  [workload-name {:keys [claim]}]
  (let [workload (get operations/workloads workload-name)
        plan (get plans/plans workload-name)
        folders (operations/folders workload (str "run-" (System/currentTimeMillis)))
        memory (atom ((:init plan) folders))
        operations (->Planned plan memory)]
    {:client (client/client workload folders (fn [done] (swap! memory (:learn plan) done)))
     :generator (if (checkers/ordered? workload) (gen/limit linear-operations operations) operations)
     :final-generator (delay (at-the-end ((:last plan) @memory)))
     :checker (checkers/checker workload claim)}))

(ns globalfs.suite.client
  "Does operations by the agents of the nodes, in the folders of one run."
  (:require [globalfs.suite.agent :as agent]
            [globalfs.suite.operations :as operations]
            [jepsen.client :as client]))

(defn- make-folder [connection folder]
  (= :ok (:type (agent/ask connection {:f "mkdir" :dir folder}))))

(defn- completed
  "An operation with what became of it."
  [workload op answer]
  (cond-> (assoc op :type (:type answer))
    (= :ok (:type answer)) (assoc :value (operations/returned workload op (:value answer)))
    (:error answer) (assoc :error (:error answer))))

(defrecord Client [workload folders learn connection]
  client/Client
  (open! [this _ node]
    (assoc this :connection (agent/connect node)))

  (setup! [_ _]
    ;; a folder of the global partition is there a moment later in other regions
    (loop [tries 60]
      (when-not (every? (partial make-folder connection) folders)
        (when (zero? tries)
          (throw (IllegalStateException. (str "cannot be made: " folders))))
        (Thread/sleep 1000)
        (recur (dec tries)))))

  (invoke! [_ _ op]
    (let [done (if (every? (partial make-folder connection) (operations/needed workload folders op))
                 (completed workload op (agent/ask connection (operations/request workload folders op)))
                 (assoc op :type :fail :error "no folder"))]
      (learn (assoc (into {} done) :asked (:value op)))
      done))

  (teardown! [_ _])

  (close! [_ _]
    (.close ^java.io.Closeable connection)))

(defn client
  "For a workload in folders; each completion is passed to learn."
  [workload folders learn]
  (->Client workload folders learn nil))

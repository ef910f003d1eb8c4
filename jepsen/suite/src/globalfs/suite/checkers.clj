(ns globalfs.suite.checkers
  "Verdicts: Knossos searches an order for the models, Elle looks for cycles, Jepsen's own checkers count;
  some are ours."
  (:require [elle.list-append :as list-append]
            [elle.rw-register :as rw-register]
            [globalfs.suite.entries :as entries]
            [globalfs.suite.models :as models]
            [globalfs.suite.own :as own]
            [jepsen.checker :as checker]
            [jepsen.history :as h]
            [jepsen.store :as store]
            [knossos.model :as model])
  (:import (knossos.model Model)))

(def claims
  "What Elle is asked. [:sequential] and [:causal] alone would accept everything: Elle has no anomaly for
  them."
  {:strict {:consistency-models [:strict-serializable]}
   :sequential {:consistency-models [:strong-session-serializable]}
   :causal {:consistency-models [:read-uncommitted]
            :anomalies [:G0-process :G1c-process :G-single-process :G-single-item-process
                        :internal :G1a :G1b]}})

(defn ordered?
  "Whether a workload's operations are put into an order."
  [workload]
  (contains? models/models (:checker workload)))

;; What an operation asked and returned is in its :value, its process too: Knossos tells operations apart
;; by :f and :value alone.
(defrecord Ordered [step state]
  Model
  (step [this op]
    (if-some [after (step state (:value op))]
      (assoc this :state after)
      (model/inconsistent (str (pr-str (:value op)) " cannot follow " (pr-str state))))))

(defn- knossos-history
  "Of operations as globalfs.suite.entries gives them; a failure that saw something is a success to Knossos."
  [operations]
  (let [end (inc (apply max 0 (mapcat (juxt :call (comp (fnil identity 0) :return)) operations)))
        entries (for [{:keys [process f call return] :as operation} operations
                      :let [value (dissoc operation :call :return)]
                      entry [{:at call :type :invoke}
                             {:at (or return (+ end call)) :type (if return :ok :info)}]]
                  (assoc entry :process process :f f :value value))]
    (h/history (mapv (fn [entry] (dissoc entry :at)) (sort-by :at entries)))))

(defn- in-some-order [workload]
  (reify checker/Checker
    (check [_ test history opts]
      (let [{:keys [init step]} (models/models (:checker workload))
            all (entries/operations workload history)
            results (for [part (models/parts (:checker workload) all)]
                      (checker/check
                        (checker/linearizable {:model (->Ordered step (init part)) :algorithm :competition})
                        test (knossos-history part) opts))]
        (if (seq all)
          {:valid? (checker/merge-valid (map :valid? results))
           :results (vec results)}
          {:valid? :unknown :error "nothing was done"})))))

(defn- elle-folder [test opts]
  (.getCanonicalPath (store/path! test (:subdirectory opts) "elle")))

(defn- transactions
  "Each client operation as a transaction of one step, of its :f and its value."
  [micro-op history]
  (h/map (fn [{:keys [f value] :as op}] (assoc op :f :txn :value [(micro-op f value)]))
         (h/client-ops history)))

(defn- torn [history]
  (filter (fn [{:keys [type f value]}] (and (= :ok type) (= :read f) (some #{-1} value))) history))

(defn- append [claim]
  (reify checker/Checker
    (check [_ test history opts]
      (let [txns (transactions (fn [f value] [(if (= :append f) :append :r) "log" value]) history)
            result (list-append/check (assoc (claims (or claim :strict)) :directory (elle-folder test opts))
                                      txns)]
        (if-let [broken (seq (torn history))]
          (assoc result :valid? false :torn (vec (take 10 broken)))
          result)))))

(defn- sessions
  "Each key has one writer: its own order, which its process's is, is known."
  [claim]
  (reify checker/Checker
    (check [_ test history opts]
      (rw-register/check (assoc (claims (or claim :causal))
                                :sequential-keys? true
                                :directory (elle-folder test opts))
                         (transactions (fn [f [key n]] [(if (= :write f) :w :r) key n]) history)))))

(defn- own-check [check workload]
  (reify checker/Checker
    (check [_ _ history _]
      (check (entries/operations workload history)))))

(defn checker
  "Of a workload. A claim replaces what Elle is asked by default."
  [workload claim]
  (case (:checker workload)
    "append" (append claim)
    "sessions" (sessions claim)
    "fsync-set" (checker/set)
    "counter" (checker/counter)
    "content" (own-check own/content workload)
    "causal-content" (own-check own/causal-content workload)
    (in-some-order workload)))

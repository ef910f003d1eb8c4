(ns globalfs.suite.plans-test
  "What clients are given to do has the shapes of workloads.edn, and leads to the requests that it says."
  (:require [clojure.test :refer [deftest is testing]]
            [globalfs.suite.operations :as operations]
            [globalfs.suite.plans :as plans]))

(defn- drawer [seed]
  (let [random (java.util.Random. seed)]
    (fn [below] (.nextInt random (int below)))))

(defn- example
  "A value of a shape, as an agent might answer; listings show a file that wanders, in the first folder."
  [shape]
  (cond
    (= :int shape) 1
    (= :text shape) "1.1"
    (map? shape) (update-vals shape example)
    (vector? shape) (case (first shape)
                      :maybe (example (second shape))
                      :list [(example (second shape))]
                      :tuple (mapv example (rest shape)))))

(defn- done [workload operation process]
  (let [spec (get-in workload [:ops (:f operation)])]
    (assoc operation
           :type :ok
           :process process
           :asked (:value operation)
           :value (if (:returns spec) (example (:returns spec)) (:value operation)))))

(defn- asked-for
  "So many operations of a workload, and those of its end."
  [workload n]
  (let [{:keys [init next learn last]} (plans/plans (:name workload))
        draw (drawer 7)]
    (loop [state (init (operations/folders workload "run"))
           all []]
      (if (< (count all) n)
        (let [process (long (draw 3))
              [state operation] (next state process draw)]
          (recur (learn state (done workload operation process)) (conj all operation)))
        (into all (last state))))))

(deftest every-workload-has-a-plan
  (is (= (set (keys operations/workloads)) (set (keys plans/plans)))))

(deftest operations-have-their-shapes
  (doseq [workload (vals operations/workloads)
          :let [all (asked-for workload 400)
                folders (operations/folders workload "run")]]
    (testing (:name workload)
      (is (= (set (keys (:ops workload))) (set (map :f all))))
      (doseq [{:keys [f value] :as operation} all
              :let [spec (get-in workload [:ops f])
                    request (operations/request workload folders operation)]]
        (is (operations/shaped? (:value spec) value) (pr-str operation))
        (is (= (set (keys (:asks spec))) (set (keys request))) (pr-str operation))
        (is (every? some? (vals request)) (pr-str request))))))

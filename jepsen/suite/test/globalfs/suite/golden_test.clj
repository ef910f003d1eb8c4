(ns globalfs.suite.golden-test
  "The models and the checkers of this suite give the verdicts that the golden histories have in their names."
  (:require [clojure.edn :as edn]
            [clojure.java.io :as io]
            [clojure.string :as str]
            [clojure.test :refer [deftest is testing]]
            [globalfs.suite.entries :as entries]
            [globalfs.suite.models :as models]
            [globalfs.suite.operations :as operations]
            [globalfs.suite.own :as own]))

(defn- ordered?
  "Whether a model allows some order of operations: each kind of order is tried, which is enough for the few
  operations of a golden history. Jepsen's runs have Knossos for it."
  [{:keys [init step]} all]
  (let [dead (atom #{})]
    (letfn [(search [state left]
              (or (every? (comp nil? :return) left)
                  (when-not (contains? @dead [state left])
                    (swap! dead conj [state left])
                    (let [bound (apply min (keep :return left))]
                      (some (fn [operation]
                              (when (< (:call operation) bound)
                                (when-some [after (step state operation)]
                                  (search after (disj left operation)))))
                            left)))))]
      (boolean (search (init all) (set all))))))

(def ^:private own-checks
  {"content" own/content
   "causal-content" own/causal-content})

(defn- verdict [checker file]
  (let [workload (first (filter (comp #{checker} :checker) (vals operations/workloads)))
        history (edn/read-string (str "[" (slurp file) "]"))
        all (entries/operations (dissoc workload :updates-only) history)]
    (if-let [check (own-checks checker)]
      (:valid? (check all))
      (every? (partial ordered? (models/models checker)) (models/parts checker all)))))

(defn golden-files
  "Of one checker, from the folder of the checker in Go."
  [checker]
  (filter (fn [file] (re-find #"\.(in)?valid\.edn$" (str file)))
          (.listFiles (io/file (System/getProperty "globalfs.golden" "../check/golden") checker))))

(deftest golden-histories-get-their-verdicts
  (doseq [checker (concat (keys models/models) (keys own-checks))]
    (let [files (golden-files checker)]
      (testing checker
        (is (seq files)))
      (doseq [file files]
        (testing (str file)
          (is (= (str/includes? (str file) ".valid.") (verdict checker file))))))))

(ns globalfs.suite.nemesis
  "Faults: Jepsen's own, with whole regions among what is cut off."
  (:require [globalfs.suite.cluster :as cluster]
            [jepsen.nemesis :as nemesis]
            [jepsen.nemesis.combined :as combined]))

(def faults
  "What can be chosen."
  #{:kill :pause :partition :packet :clock})

(defn- cut-off
  "A region's nodes and all others hear nothing of each other."
  [nodes region]
  (let [inside (set (cluster/nodes-of nodes region))]
    (nemesis/complete-grudge [(filter inside nodes) (remove inside nodes)])))

(defn package
  "Nemesis and generators for these faults, so many seconds apart."
  [{:keys [db nodes faults interval]}]
  (combined/nemesis-package
    {:db db
     :faults faults
     :interval interval
     :kill {:targets [:one :minority-third :majority :all]}
     :pause {:targets [:one :minority-third :majority]}
     :partition {:targets (into [:one :majority :majorities-ring]
                                (map (partial cut-off nodes) cluster/regions))}
     :packet {:targets [:one :minority-third]
              :behaviors [{:delay {}} {:loss {}} {:delay {} :reorder {}}]}
     :clock {:targets [:one :minority-third]}}))

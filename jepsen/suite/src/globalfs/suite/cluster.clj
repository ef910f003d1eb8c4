(ns globalfs.suite.cluster
  "Which node is what: nine nodes are three regions of three datacenters, in their order. And the files that
  say so to GlobalFS. Needs nothing but Clojure."
  (:require [clojure.string :as str]))

(def regions ["us-west" "us-east" "eu-west"])

(def ^:private datacenters ["a" "b" "c"])

(def size (* (count regions) (count datacenters)))

(def ports
  {:zookeeper 2181 :ring 7701 :rpc 7702 :oracle 7703 :storage [7704 7705]})

(defn place
  "Of a node: region, datacenter, the numbers of its region and replica."
  [nodes node]
  (let [i (.indexOf ^java.util.List (vec nodes) node)
        per-region (count datacenters)]
    {:region (nth regions (quot i per-region))
     :datacenter (nth datacenters (rem i per-region))
     :partition (inc (quot i per-region))
     :replica (inc i)}))

(defn nodes-of
  "The nodes of a region."
  [nodes region]
  (filter (fn [node] (= region (:region (place nodes node)))) nodes))

(defn- common [nodes]
  ["cluster: jepsen"
   (str "zookeeper: " (first nodes) ":" (:zookeeper ports))])

(defn- topology [nodes]
  (cons "topology:"
        (mapcat (fn [region]
                  (let [members (nodes-of nodes region)]
                    (list* (str "  - region: " region)
                           (str "    partition: " (:partition (place nodes (first members))))
                           "    replicas:"
                           (mapcat (fn [node]
                                     (let [{:keys [replica datacenter]} (place nodes node)]
                                       [(str "      - id: " replica)
                                        (str "        datacenter: " datacenter)
                                        (str "        ring: " node ":" (:ring ports))
                                        (str "        rpc: " node ":" (:rpc ports))]))
                                   members))))
                regions)))

(defn- text [& lines]
  (str (str/join "\n" (remove nil? (flatten lines))) "\n"))

(defn zookeeper-yaml
  "For the process on the first node that only runs ZooKeeper, for the whole test."
  [nodes]
  (text "name: zookeeper"
        (common nodes)
        "bind: 0.0.0.0"
        (str "advertise: " (first nodes))
        "data: /opt/globalfs/zookeeper"
        "roles:"
        "  zookeeper:"
        (str "    port: " (:zookeeper ports))))

(defn server-yaml
  "For a node's server: a replica, two storage nodes, and in each region's first datacenter the oracle."
  [nodes node]
  (let [{:keys [region datacenter replica]} (place nodes node)]
    (text (str "name: " region "-" datacenter)
          (common nodes)
          (str "region: " region)
          (str "datacenter: " datacenter)
          "bind: 0.0.0.0"
          (str "advertise: " node)
          "data: /opt/globalfs/data"
          "roles:"
          "  replica:"
          (str "    id: " replica)
          (when (= datacenter (first datacenters))
            ["  oracle:" (str "    port: " (:oracle ports))])
          "  storage:"
          (map-indexed (fn [i port]
                         [(str "    - id: " region "-" datacenter "-" (inc i))
                          (str "      port: " port)])
                       (:storage ports))
          (topology nodes))))

(defn mount-yaml
  "For a node's mount."
  [nodes node]
  (let [{:keys [region datacenter]} (place nodes node)]
    (text (common nodes)
          (str "region: " region)
          (str "datacenter: " datacenter))))

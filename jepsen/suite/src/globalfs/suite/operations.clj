(ns globalfs.suite.operations
  "What workloads.edn says: an operation's request to the agent, and whether values have the shape that
  they should have. Needs nothing but Clojure."
  (:require [clojure.edn :as edn]
            [clojure.java.io :as io]
            [clojure.string :as str]))

(def ^:private folders-by-place
  {:here "at-us-west" :there "at-us-east" :global "at-global"})

(defn- entire
  "A workload with what it has from the one that it is like."
  [all workload]
  (if-let [other (:like workload)]
    (-> (merge (get all other) (dissoc workload :like :without))
        (update :ops (fn [ops] (apply dissoc ops (:without workload)))))
    workload))

(def workloads
  "By name."
  (let [all (edn/read-string (slurp (io/resource "workloads.edn")))]
    (into (sorted-map) (for [[workload-name workload] all]
                         [workload-name (assoc (entire all workload) :name workload-name)]))))

(defn shaped?
  "Whether a value has a shape, as workloads.edn writes it."
  [shape value]
  (cond
    (nil? shape) (nil? value)
    (= :int shape) (int? value)
    (= :text shape) (string? value)
    (map? shape) (and (map? value)
                      (= (set (keys shape)) (set (keys value)))
                      (every? (fn [[field inner]] (shaped? inner (get value field))) shape))
    :else (let [[kind & inner] shape]
            (case kind
              :maybe (or (nil? value) (shaped? (first inner) value))
              :list (and (sequential? value) (every? (partial shaped? (first inner)) value))
              :tuple (and (sequential? value)
                          (= (count inner) (count value))
                          (every? true? (map shaped? inner value)))))))

(defn folders
  "The folders of one run of a workload, which nobody has used before."
  [workload run]
  (vec (map-indexed (fn [i place] (str (folders-by-place place) "/" run "-" (:name workload) "-" i))
                    (:places workload))))

(defn content-bytes
  "How long the content of a file is."
  [file]
  (+ 1000 (rem (* file 7919) 600000)))

(defn large-bytes
  "How long the content of a large file is."
  [file]
  (+ 8000000 (rem (* file 7919003) 32000000)))

(defn- session-folder [run-folders key]
  (str (nth run-folders (mod key (count run-folders))) "/" key))

(defn- field
  "Where a field of a request comes from."
  [workload run-folders value source]
  (cond
    (vector? source) (if (seq source) (reduce get value source) value)
    (string? source) source
    :else (case source
            :folder (first run-folders)
            :kind (:kind workload)
            :parent (str/replace (:path value) #"/[^/]*$" "")
            :bytes (content-bytes (:file value))
            :large-bytes (large-bytes (:file value))
            :session (session-folder run-folders (first value)))))

(defn request
  "What the agent is asked for an operation."
  [workload run-folders {:keys [f value]}]
  (let [asks (get-in workload [:ops f :asks])]
    (into {} (for [[name source] asks] [name (field workload run-folders value source)]))))

(defn needed
  "The folders that must exist before an operation is asked for."
  [workload run-folders {:keys [f value]}]
  (if (and (= "sessions" (:checker workload)) (= :write f))
    [(session-folder run-folders (first value))]
    []))

(defn returned
  "The value of an operation that was ok, of the agent's answer."
  [workload {:keys [f value]} answer]
  (let [{:keys [returns]} (get-in workload [:ops f])]
    (cond
      (nil? returns) value
      (= "sessions" (:checker workload)) [(first value) answer]
      (contains? #{"content" "causal-content"} (:checker workload)) {:file (:file value) :sum answer}
      :else answer)))

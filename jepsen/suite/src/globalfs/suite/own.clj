(ns globalfs.suite.own
  "Checkers of GlobalFS's own making, for claims that no published one covers. Need nothing but Clojure.")

(defn- violation
  "What is wrong with a read of a file that one operation wrote."
  [{:keys [asked returned outcome call return]} write]
  (let [acknowledged (and write (= :ok (:outcome write)) (< (:return write) call))]
    (cond
      (= :saw outcome) (when acknowledged "was acknowledged, and is not there")
      (or (nil? write) (> (:call write) return)) "is there before it was written"
      (and acknowledged (not= (:sum returned) (:sum (:asked write)))) "shows other bytes"
      (not= (:file asked) (:file returned)) "is another file")))

(defn content
  "Bytes that were acknowledged are read back, never others: write {:file n :sum text}, each file once, and
  read {:file n}. A read that begins before the acknowledgement may show any part, and is not judged."
  [operations]
  (let [writes (into {} (for [{:keys [f asked] :as operation} operations :when (= :write f)]
                          [(:file asked) operation]))
        reads (filter (comp #{:read} :f) operations)
        violations (for [{:keys [asked return] :as read} reads
                         :let [wrong (violation read (get writes (:file asked)))]
                         :when wrong]
                     {:at return :file (:file asked) :what wrong})]
    {:valid? (cond (seq violations) false
                   (empty? reads) :unknown
                   :else true)
     :reads (count reads)
     :violations (vec (take 20 violations))}))

(defn- events
  "Beginnings and ends of operations, in order."
  [operations]
  (sort-by :at (mapcat (fn [{:keys [call return] :as operation}]
                         (cond-> [{:at call :operation operation}]
                           return (conj {:at return :end true :operation operation})))
                       operations)))

(defn- causal-violation
  "What is wrong with a read where reads are causal, by a session that was to see these files."
  [{:keys [f asked returned outcome call return]} write seen]
  (if (= :saw outcome)
    (cond
      (contains? seen (:file asked)) "is not there, and its session was to see it"
      (and (= :settled f) write (= :ok (:outcome write)) (< (:return write) call))
      "was acknowledged, and is not there")
    (cond
      (or (nil? write) (> (:call write) return)) "is there before it was written"
      (not= (:sum returned) (:sum (:asked write))) "shows other bytes")))

(defn causal-content
  "As content, where reads are causal and a file has its name once it is whole: who finds it finds all its
  bytes; a session finds what it has written or read, and what whoever wrote that had to find; and :settled
  finds what had been acknowledged before it began."
  [operations]
  (let [writes (into {} (for [{:keys [f asked] :as operation} operations :when (= :write f)]
                          [(:file asked) operation]))
        step (fn [{:keys [seen past] :as state} {:keys [at end operation]}]
               (let [{:keys [f process asked outcome]} operation
                     file (:file asked)
                     learn (fn [state] (update-in state [:seen process] (fnil into #{}) (get past file)))]
                 (cond
                   (and (= :write f) (not end)) (assoc-in state [:past file]
                                                          (conj (get seen process #{}) file))
                   (not end) state
                   (= :write f) (if (= :ok outcome) (learn state) state)
                   :else (let [wrong (causal-violation operation (get writes file) (get seen process #{}))]
                           (cond-> (update state :reads inc)
                             wrong (update :violations conj {:at at :file file :what wrong})
                             (= :ok outcome) learn)))))
        {:keys [reads violations]} (reduce step {:seen {} :past {} :reads 0 :violations []} (events operations))]
    {:valid? (cond (seq violations) false
                   (zero? reads) :unknown
                   :else true)
     :reads reads
     :violations (vec (take 20 violations))}))

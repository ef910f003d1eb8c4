(ns globalfs.suite.own
  "A checker of GlobalFS's own making, for a claim that no published one covers. Needs nothing but Clojure.")

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

(ns globalfs.suite.entries
  "A history's entries, paired up to operations as the models see them. Needs nothing but Clojure.")

(def ^:private looks
  "Operations that change nothing."
  #{:read :settled :exists :stat :readdir})

(defn- outcome [workload {:keys [f]} completion]
  (case (:type completion)
    :ok :ok
    :fail (let [error (:error completion)
                text (if (keyword? error) (name error) (str error))]
            (if (contains? (get-in workload [:ops f :sees] #{}) text) :saw :refused))
    :unknown))

(defn- changes?
  "Whether an operation has, or may have, changed something."
  [{:keys [f outcome]}]
  (and (not (looks f)) (not= :saw outcome)))

(defn operations
  "Maps of :process, :f, :asked (the invocation's value), :returned (the completion's), :outcome (:ok; :saw: it
  failed by what it found; :unknown), and the positions :call and :return, which is nil where the outcome is
  unknown. Left out is what says nothing: operations that were refused, and looks of unknown outcome."
  [workload entries]
  (let [clients (filter (comp int? :process) (map-indexed (fn [i entry] (assoc (into {} entry) :at i)) entries))
        pairs (loop [[entry & more] clients, open {}, pairs []]
                (cond
                  (nil? entry) (into pairs (map (fn [invocation] [invocation nil]) (vals open)))
                  (= :invoke (:type entry)) (recur more (assoc open (:process entry) entry) pairs)
                  :else (recur more
                               (dissoc open (:process entry))
                               (conj pairs [(get open (:process entry)) entry]))))
        all (for [[invocation completion] pairs
                  :let [outcome (outcome workload invocation completion)]]
              {:process (:process invocation)
               :f (:f invocation)
               :asked (:value invocation)
               :returned (:value completion)
               :outcome outcome
               :call (:at invocation)
               :return (when-not (= :unknown outcome) (:at completion))})]
    (->> all
         (remove (fn [{:keys [f outcome]}] (or (= :refused outcome)
                                               (and (looks f) (= :unknown outcome)))))
         (filter (if (:updates-only workload) changes? any?))
         (sort-by :call)
         vec)))

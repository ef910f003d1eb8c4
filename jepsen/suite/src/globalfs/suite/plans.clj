(ns globalfs.suite.plans
  "What clients do in each workload: the next operation of a process, and what is remembered of those that
  are done. Needs nothing but Clojure.

  A plan is a map: :init makes what is remembered from the run's folders, :next takes that, a process and a
  function that draws a number below another, and returns [remembered operation]; :learn takes that and a
  completion; :last gives the operations for the end, when nothing is broken any more."
  (:require [clojure.string :as str]
            [globalfs.suite.content :as content]
            [globalfs.suite.operations :as operations]))

(defn- counted
  "An operation on the next number."
  [state make]
  (let [n (inc (:numbers state 0))]
    [(assoc state :numbers n) (make n)]))

(defn- pick [draw coll]
  (nth coll (draw (count coll))))

(def ^:private read-all {:f :read :value nil})

(def ^:private base
  {:init (fn [folders] {:folders folders})
   :learn (fn [state _] state)
   :last (fn [_] [])})

(defn- plan [& {:as parts}]
  (merge base parts))

(def ^:private register
  (plan :next (fn [state _ draw]
                (if (zero? (draw 2))
                  [state read-all]
                  (counted state (fn [n] {:f :write :value n}))))))

(def ^:private exchange
  (plan :next (fn [state _ draw]
                (let [d (draw 10)]
                  (cond
                    (or (zero? d) (nil? (:seen state))) (counted state (fn [n] {:f :write :value n}))
                    (< d 6) (counted state (fn [n] {:f :cas :value [(:seen state) n]}))
                    :else [state read-all])))
        :learn (fn [state {:keys [type f value]}]
                 (if (= :ok type)
                   (assoc state :seen (if (= :cas f) (second value) value))
                   state))))

(def ^:private append
  (plan :next (fn [state _ draw]
                (if (< (draw 10) 6)
                  (counted state (fn [n] {:f :append :value n}))
                  [state read-all]))
        :last (fn [_] [read-all])))

(defn- name-paths [folders]
  (for [folder folders file ["a" "b" "c"]] (str folder "/" file)))

(defn- names
  "With or without links and renames to the same name: where reads are causal, rename(2) may take two names
  for those of one file that no longer are, and does nothing then, with success."
  [links]
  (plan :next (fn [{:keys [folders] :as state} _ draw]
                (let [paths (vec (name-paths folders))
                      path (pick draw paths)
                      to (pick draw (if links paths (vec (remove #{path} paths))))
                      source (str (first folders) "/source")
                      operation (case (draw 12)
                                  (0 1) {:f :create :value {:path path}}
                                  (2 3) {:f :unlink :value {:path path}}
                                  (4 5 6) {:f :rename :value {:path path :to to}}
                                  (7 8) (if links
                                          {:f :link :value {:path source :to to}}
                                          {:f :create :value {:path to}})
                                  9 {:f :exists :value {:path path}}
                                  10 {:f :stat :value {:path source}}
                                  {:f :readdir :value {:path (pick draw folders)}})]
                  ;; the file that is linked from is there before all else
                  (if (:source state)
                    [state operation]
                    [(assoc state :source true) {:f :create :value {:path source}}])))))

(defn- new-name [folder file n]
  (str folder "/" file "." n))

(def ^:private wanderers 5)

(def ^:private wandering
  (plan :next (fn [{:keys [folders known] :as state} _ draw]
                (let [folder (pick draw folders)
                      d (draw 10)
                      file (when (seq known) (pick draw (vec (keys known))))
                      path (get known file)]
                  (cond
                    (< (count known) wanderers)
                    (counted state (fn [n] {:f :place :value {:file n :path (new-name folder n n)}}))
                    (< d 2) [state {:f :readdir :value {:path folder}}]
                    (< d 5) [state {:f :read :value {:file file :path path}}]
                    :else (counted state (fn [n] {:f :rename
                                                  :value {:file file :path path
                                                          :to (new-name folder file n)}})))))
        :learn (fn [state {:keys [type f value asked]}]
                 (if (= :ok type)
                   (case f
                     :place (assoc-in state [:known (:file value)] (:path value))
                     :rename (assoc-in state [:known (:file value)] (:to value))
                     :readdir (reduce (fn [state entry]
                                        (let [file (parse-long (first (str/split entry #"\.")))]
                                          ;; what may not have been placed is not taken up
                                          (if (get-in state [:known file])
                                            (assoc-in state [:known file] (str (:path asked) "/" entry))
                                            state)))
                                      state
                                      (:entries value))
                     state)
                   state))
        :last (fn [{:keys [folders known]}]
                (concat (for [folder folders] {:f :readdir :value {:path folder}})
                        (for [[file path] known] {:f :read :value {:file file :path path}})))))

(def ^:private lock
  (plan :next (fn [state process _]
                [state {:f (if (contains? (:held state #{}) process) :release :acquire) :value nil}])
        :learn (fn [state {:keys [type f process]}]
                 (if (and (= :ok type) (= :acquire f))
                   (update state :held (fnil conj #{}) process)
                   (update state :held (fnil disj #{}) process)))))

(def ^:private fsync-set
  (plan :next (fn [state _ _] (counted state (fn [n] {:f :add :value n})))
        :last (fn [_] [read-all])))

(def ^:private counter
  (plan :next (fn [state _ draw]
                [state (if (zero? (draw 4)) read-all {:f :add :value (inc (draw 3))})])
        :last (fn [_] [read-all])))

(defn- content
  "Of at most so many files; size: how many bytes one has; f: how they are read in the end."
  [most size f]
  (plan :next (fn [state _ draw]
                (let [made (:numbers state 0)]
                  (if (and (pos? made) (or (>= made most) (zero? (draw 2))))
                    [state {:f :read :value {:file (inc (draw made))}}]
                    (counted state (fn [file]
                                     {:f :write
                                      :value {:file file :sum (content/sum file (size file))}})))))
        :last (fn [state]
                (for [file (range 1 (inc (:numbers state 0)))] {:f f :value {:file file}}))))

(def ^:private sessions
  (plan :next (fn [state process draw]
                (let [state (update state :written (fn [w] (merge {process 0} w)))]
                  (if (zero? (draw 3))
                    (let [n (inc (get-in state [:written process]))]
                      [(assoc-in state [:written process] n) {:f :write :value [process n]}])
                    [state {:f :read :value [(pick draw (vec (keys (:written state)))) nil]}])))))

(def ^:private comments
  "Posts in one folder, comments on them in the other: who is shown a comment is shown its post. A post's key
  is even, its comment's the next."
  (letfn [(written [state key]
            (let [n (inc (get-in state [:written key] 0))]
              [(assoc-in state [:written key] n) {:f :write :value [key n]}]))]
    (plan :next (fn [{:keys [commenting following latest] :as state} process draw]
                  (cond
                    (contains? commenting process)
                    (written (update state :commenting disj process) (inc (* 2 process)))

                    (contains? following process)
                    [(update state :following dissoc process)
                     {:f :read :value [(* 2 (get following process)) nil]}]

                    (or (nil? latest) (zero? (draw 4)))
                    (written state (* 2 process))

                    :else [state {:f :read :value [(inc (* 2 latest)) nil]}]))
          :learn (fn [state {:keys [type f value process]}]
                   (if (= :ok type)
                     (let [[key n] value]
                       (cond
                         (and (= :write f) (odd? key)) (assoc state :latest process)
                         (= :write f) (update state :commenting (fnil conj #{}) process)
                         (and (odd? key) n) (assoc-in state [:following process] (quot key 2))
                         :else state))
                     state)))))

(def plans
  "By workload."
  {"register" register
   "exchange" exchange
   "append" append
   "names" (names true)
   "names-across" (names true)
   "global-names" (names false)
   "wandering" wandering
   "flock" lock
   "ofd-lock" lock
   "fsync-set" fsync-set
   "counter" counter
   "content" (content 100000 operations/content-bytes :read)
   "large" (content 8 operations/large-bytes :read)
   "global-large" (content 8 operations/large-bytes :settled)
   "sessions" sessions
   "comments" comments})

(ns globalfs.suite.models
  "What single steps are allowed, of the workloads that are judged by an order of their operations. The
  checker in jepsen/check has the same models, and says more about them. Needs nothing but Clojure.

  A model is a map of :init, made from all operations, and :step, which takes a state and an operation (see
  globalfs.suite.entries) and returns the next state, or nil where the operation cannot be next. An
  operation of unknown outcome is always possible, without effect where it cannot have one."
  (:require [clojure.string :as str]))

(defn- when-possible [possible state]
  (when possible state))

(defn- effect
  "The state with an operation's effect, if it is possible; one of unknown outcome may be without."
  [possible changed {:keys [outcome]} state]
  (cond
    (= :saw outcome) (when-possible (not possible) state)
    possible changed
    (= :unknown outcome) state))

(defn- register-step [{:keys [value] :as state} {:keys [f asked returned] :as operation}]
  (case f
    :read (when-possible (= value returned) state)
    :write {:value asked}
    :cas (effect (= value (first asked)) {:value (second asked)} operation state)))

(def ^:private register
  {:init (constantly {:value nil})
   :step register-step})

(defn- renumbered
  "The same tree; files are numbered by their first paths."
  [tree]
  (first (reduce (fn [[numbered numbers] path]
                   (let [file (get tree path)
                         numbers (if (numbers file) numbers (assoc numbers file (count numbers)))]
                     [(assoc numbered path (numbers file)) numbers]))
                 [{} {}]
                 (sort (keys tree)))))

(defn- names-in [tree folder]
  (sort (for [path (keys tree) :when (str/starts-with? path (str folder "/"))]
          (subs path (inc (count folder))))))

(defn- links [tree file]
  (count (filter #{file} (vals tree))))

(defn- namespace-update
  "The tree after an update, or nil where it fails."
  [tree {:keys [f asked]}]
  (let [{:keys [path to]} asked
        file (get tree path)]
    (case f
      :create (when-not file (assoc tree path (inc (count tree))))
      :unlink (when file (dissoc tree path))
      :link (when (and file (not (get tree to))) (assoc tree to file))
      :rename (when file (if (= file (get tree to)) tree (dissoc (assoc tree to file) path))))))

(defn- namespace-step [tree {:keys [f asked returned outcome] :as operation}]
  (let [path (:path asked)
        file (get tree path)
        there (= :ok outcome)]
    (case f
      :exists (when-possible (= there (some? file)) tree)
      :stat (when-possible (if there (and file (= (:nlink returned) (links tree file))) (nil? file)) tree)
      :readdir (when-possible (= (sort (:entries returned)) (names-in tree path)) tree)
      (if (and (= :rename f) there (nil? file) (get tree (:to asked)))
        ;; the kernel looks both names up, one after the other, and does nothing, with success, when it finds
        ;; the same file under both: another's rename between the two has done it
        tree
        (let [changed (namespace-update tree operation)]
          (effect (some? changed) (some-> changed renumbered) operation tree))))))

(def ^:private namespaces
  {:init (constantly {})
   :step namespace-step})

(defn- lock-step [{:keys [holder token crashed] :as state} {:keys [f process returned outcome]}]
  (let [free (or (nil? holder) (contains? crashed holder))]
    (case f
      :acquire (case outcome
                 :ok (when-possible (and free (> (:token returned) token))
                       (assoc state :holder process :token (:token returned)))
                 :saw (when-possible (some? holder) state)
                 :unknown (if free (assoc state :holder process) state))
      :release (cond
                 (= holder process) (assoc state :holder nil)
                 (= :unknown outcome) state))))

(def ^:private lock
  {:init (fn [operations]
           {:holder nil
            :token 0
            ;; a client that is gone may lose its lock at any time
            :crashed (set (map :process (filter (comp #{:unknown} :outcome) operations)))})
   :step lock-step})

(def ^:private nowhere
  "A file's newest name before it is placed."
  "")

(defn- listed-as [{:keys [asked returned file]} path]
  (let [folder (:path asked)
        shown (filter (fn [entry] (= (str file) (first (str/split entry #"\.")))) (:entries returned))]
    (if (str/starts-with? path (str folder "/"))
      (= [path] (map (partial str folder "/") shown))
      (empty? shown))))

(defn- wandering-step [newest {:keys [f asked returned outcome file] :as operation}]
  (let [{:keys [path to]} asked
        there (= path newest)]
    (cond
      (= :readdir f) (when-possible (listed-as operation newest) newest)
      (= :saw outcome) (when-possible (not there) newest)
      (= :read f) (when-possible (and there (= file (:mark returned))) newest)
      (and (= :place f) (= nowhere newest)) path
      (and (= :rename f) there) to
      (= :unknown outcome) newest)))

;; of one file: its newest name
(def ^:private wandering
  {:init (constantly nowhere)
   :step wandering-step})

(def models
  "By checker."
  {"register" register
   "namespace" namespaces
   "lock" lock
   "wandering" wandering})

(defn- files-of [{:keys [f asked returned]}]
  (if (= :readdir f)
    (map (fn [entry] (parse-long (first (str/split entry #"\.")))) (:entries returned))
    [(:file asked)]))

(defn parts
  "The operations of which each group is judged by itself."
  [checker operations]
  (if (= "wandering" checker)
    (for [file (sort (distinct (mapcat files-of operations)))]
      (vec (for [operation operations
                 :when (contains? #{nil file} (get-in operation [:asked :file]))]
             (assoc operation :file file))))
    [operations]))

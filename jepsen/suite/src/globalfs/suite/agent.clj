(ns globalfs.suite.agent
  "A connection to the agent of a node, and a client there: a JSON object a line, each answered by one."
  (:require [clojure.data.json :as json]
            [clojure.java.io :as io])
  (:import (java.io BufferedReader Closeable IOException Writer)
           (java.net InetSocketAddress Socket)))

(def port
  "Where agents listen."
  7700)

(def ^:private connect-ms 10000)

(def ^:private answer-ms
  "Without an answer after it, an operation's outcome is unknown."
  20000)

(defrecord Connection [^Socket socket ^BufferedReader answers ^Writer requests]
  Closeable
  (close [_] (.close socket)))

(defn connect
  "A client of its own."
  [node]
  (let [socket (Socket.)]
    (try
      (.connect socket (InetSocketAddress. ^String node (int port)) connect-ms)
      (.setSoTimeout socket answer-ms)
      (->Connection socket (io/reader socket) (io/writer socket))
      (catch IOException e
        (.close socket)
        (throw e)))))

(defn ask
  "The outcome: :type :ok, :fail or :info, with :value and :error. After :info the connection is of no more
  use."
  [{:keys [^Writer requests ^BufferedReader answers]} request]
  (try
    (.write requests (str (json/write-str request) "\n"))
    (.flush requests)
    (if-let [line (.readLine answers)]
      (let [answer (update (json/read-str line :key-fn keyword) :type keyword)]
        (if (= :bad (:type answer))
          (throw (IllegalStateException. (str "the agent does not understand " request ": " (:error answer))))
          answer))
      {:type :info :error "the agent is gone"})
    (catch IOException e
      {:type :info :error (str (.getMessage e))})))

(defproject org.globalfs/suite "0.1.0-SNAPSHOT"
  :description "Jepsen tests of GlobalFS"
  :main globalfs.suite.runner
  :dependencies [[org.clojure/clojure "1.12.5"]
                 [org.clojure/data.json "2.5.1"]
                 [jepsen "0.3.13"]]
  :jvm-opts ["-Xmx8g" "-Djava.awt.headless=true"]
  :repl-options {:init-ns globalfs.suite.runner})

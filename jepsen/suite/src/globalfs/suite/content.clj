(ns globalfs.suite.content
  "Bytes that agents make from a number too: the words of SplitMix64, least byte first. Needs nothing but
  Clojure."
  (:import (java.security MessageDigest)
           (java.util HexFormat)))

(defn- mixed
  "A state's word."
  ^long [^long state]
  (let [a (unchecked-multiply (bit-xor state (unsigned-bit-shift-right state 30)) -0x40a7b892e31b1a47)
        b (unchecked-multiply (bit-xor a (unsigned-bit-shift-right a 27)) -0x6b2fb644ecceee15)]
    (bit-xor b (unsigned-bit-shift-right b 31))))

(defn sum
  "The SHA-256 of so many bytes, in hexadecimal."
  [seed size]
  (let [digest (MessageDigest/getInstance "SHA-256")
        word (byte-array 8)]
    (loop [state (long seed), left (long size)]
      (when (pos? left)
        (let [state (unchecked-add state -0x61c8864680b583eb)
              bits (mixed state)]
          (dotimes [i 8]
            (aset word i (unchecked-byte (unsigned-bit-shift-right bits (* 8 i)))))
          (.update digest word 0 (int (min left 8)))
          (recur state (- left 8)))))
    (.formatHex (HexFormat/of) (.digest digest))))

package org.globalfs.bench.agar;

import java.util.Random;

/** Requests for objects whose popularities follow Zipf's law; the most popular one is 0. */
final class Zipf {
    private final double[] cumulated;

    /**
     * @param skew the exponent; 0: uniform
     */
    Zipf(int objects, double skew) {
        cumulated = new double[objects];
        double sum = 0;
        for (int i = 0; i < objects; i++) {
            sum += Math.pow(i + 1, -skew);
            cumulated[i] = sum;
        }
    }

    int draw(Random random) {
        double at = random.nextDouble() * cumulated[cumulated.length - 1];
        int low = 0;
        int high = cumulated.length - 1;
        while (low < high) {
            int middle = (low + high) / 2;
            if (cumulated[middle] < at) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low;
    }

    /** What is asked for, in order: from one seed always the same, and longer ones begin alike. */
    int[] requests(long seed, int count) {
        Random random = new Random(seed);
        int[] requests = new int[count];
        for (int i = 0; i < count; i++) {
            requests[i] = draw(random);
        }
        return requests;
    }

    /** Which share of the requests is for the so many most popular objects. */
    double shareOf(int objects) {
        return cumulated[objects - 1] / cumulated[cumulated.length - 1];
    }
}

package org.globalfs.replica.state;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.function.BiConsumer;
import org.globalfs.protocol.wire.Command;
import org.globalfs.protocol.wire.Status;
import org.globalfs.protocol.wire.UpdateReply;

/**
 * Commands under way, sent on as clients do: again after a lock, elsewhere after an escalation, and
 * now and then once more without need.
 */
final class Flights {

    private static final int MOST_ROUNDS = 200;
    private static final int LOOKS_BETWEEN_TRIES = 8;

    private final Rings rings;
    private final BiConsumer<Command, UpdateReply> landed;
    private final List<Flight> flights = new ArrayList<>();
    int finished;
    int succeeded;
    int locked;
    int escalated;

    private static final class Flight {
        Command command;
        int partition;

        /** It met a lock, and waits a little. */
        boolean refused;

        UpdateReply last = new UpdateReply();
        final Set<Integer> visited = new HashSet<>();

        Flight(Command command, int partition) {
            this.command = command;
            this.partition = partition;
        }

        @Override
        public String toString() {
            return partition + ": " + command + ", last answer " + last + "\n";
        }
    }

    /**
     * @param landed told of every outcome
     */
    Flights(Rings rings, BiConsumer<Command, UpdateReply> landed) {
        this.rings = rings;
        this.landed = landed;
    }

    int size() {
        return flights.size();
    }

    void start(Command command, int partition) {
        Flight flight = new Flight(command, partition);
        flights.add(flight);
        deliver(flight);
    }

    private void deliver(Flight flight) {
        rings.deliver(flight.partition, List.of(rings.stamped(flight.command)));
    }

    /** Looks after every flight; each that waits is sent again once in so many times. */
    void goOn(Random random, int repeatOnceIn) {
        for (Flight flight : List.copyOf(flights)) {
            if (!flight.refused) {
                goOn(flight, random.nextInt(repeatOnceIn) == 0);
            } else if (random.nextInt(LOOKS_BETWEEN_TRIES) == 0) {
                tryAgain(flight);
            }
        }
    }

    private void tryAgain(Flight flight) {
        flight.refused = false;
        deliver(flight);
    }

    private void goOn(Flight flight, boolean repeat) {
        UpdateReply reply = rings.takeReply(flight.command);
        if (reply == null) {
            if (repeat) {
                deliver(flight);
            }
            return;
        }
        flight.last = reply;
        if (reply.getStatus() == Status.DONE) {
            flights.remove(flight);
            finished++;
            succeeded += reply.getErrno() == 0 ? 1 : 0;
            landed.accept(flight.command, reply);
            return;
        }
        if (reply.getStatus() == Status.ESCALATE) {
            Escalation next = Escalation.of(flight.command, reply);
            flight.command = next.command();
            flight.visited.add(flight.partition);
            if (next.partition() != 0 && flight.visited.contains(next.partition())) {
                // It has said that it will never execute this command, and the inode is back.
                flight.command = rings.anew(next.command());
                flight.visited.clear();
            }
            flight.partition = next.partition();
            escalated++;
            deliver(flight);
        } else {
            locked++;
            flight.refused = true;
        }
    }

    /** Lets everything end. */
    void land() {
        for (int round = 0; !flights.isEmpty(); round++) {
            assertThat(round)
                    .as("rounds until all has landed: %s", flights)
                    .isLessThan(MOST_ROUNDS);
            rings.settle();
            for (Flight flight : List.copyOf(flights)) {
                if (flight.refused) {
                    tryAgain(flight);
                } else {
                    goOn(flight, true);
                }
            }
        }
        rings.settle();
    }
}

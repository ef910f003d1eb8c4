import java.io.IOException;

/** What carries packets between the regions. */
interface Router {
    /** As WAN_LAB_ROUTER calls it. */
    String name();

    Link link(String name, int from, int to);

    /** Makes the regions, and carries packets between them as their links are set by now. */
    void start(Lab lab) throws IOException, InterruptedException;

    /** Makes hold what was set on links meanwhile. */
    void apply() throws IOException, InterruptedException;

    /** Brings up to date what has passed the links. */
    void count() throws IOException, InterruptedException;
}

package org.globalfs.protocol;

/** How a ring's coordinator spreads the values that it orders. */
public enum Dissemination {
    /** It sends each to every other member: least delay. */
    STAR,
    /** It sends each to one member, and every member passes it on to the next: least bandwidth. */
    RING
}

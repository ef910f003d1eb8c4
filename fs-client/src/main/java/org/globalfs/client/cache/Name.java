package org.globalfs.client.cache;

/** What a name in a directory points to; {@link #ABSENT}: nothing. */
public record Name(long ino, int type) {

    public static final Name ABSENT = new Name(0, 0);

    public boolean absent() {
        return ino == 0;
    }
}

package org.globalfs.client.fuse;

/** What a binding may be unable to express; docs/fuse.md has the same list. */
enum Feature {
    /** RENAME_NOREPLACE, RENAME_EXCHANGE and RENAME_WHITEOUT. */
    RENAME_FLAGS,
    /** The time of birth, of statx(2). */
    BIRTH_TIME,
    /** SEEK_DATA and SEEK_HOLE. */
    HOLES,
    /** Shared mappings, of mmap(2). */
    SHARED_MAPPINGS,
    /** fstat(2), fchmod(2), … of an open file that has no name any more. */
    ATTRIBUTES_WITHOUT_A_NAME,
    /** open_by_handle_at(2) of what the kernel has forgotten. */
    LASTING_NUMBERS
}

-- The registry. Instants are microseconds since 1970-01-01 UTC; fingerprints are 64 hexadecimal digits.
-- Forward only: a change is a new file, and what an older binary reads stays readable until nobody runs it.

CREATE TABLE definitions (
    version     INTEGER PRIMARY KEY,
    fingerprint TEXT    NOT NULL,
    files       TEXT    NOT NULL,    -- JSON: [{"path", "text"}]
    applied_at  INTEGER NOT NULL,
    applied_by  TEXT    NOT NULL
);

CREATE TABLE runs (
    id                  INTEGER PRIMARY KEY AUTOINCREMENT,
    as_of               INTEGER NOT NULL,
    definitions_version INTEGER NOT NULL,
    started_at          INTEGER NOT NULL,
    finished_at         INTEGER,     -- null: going on, or its process died
    outcome             TEXT         -- JSON: {"outcome", ...}
);

CREATE TABLE reserved_release_numbers (
    number INTEGER PRIMARY KEY AUTOINCREMENT
);

CREATE TABLE releases (
    number  INTEGER PRIMARY KEY,
    release TEXT    NOT NULL         -- JSON
);

CREATE TABLE bundles (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    model       TEXT    NOT NULL,
    fingerprint TEXT    NOT NULL,
    bytes       BLOB    NOT NULL,
    imported_at INTEGER NOT NULL,
    UNIQUE (model, fingerprint)
);

CREATE INDEX bundles_by_fingerprint ON bundles (fingerprint);

CREATE TABLE leases (
    name       TEXT    PRIMARY KEY,
    holder     TEXT    NOT NULL,
    fence      INTEGER NOT NULL,     -- grows with each grant
    held_until INTEGER               -- null: given back
);

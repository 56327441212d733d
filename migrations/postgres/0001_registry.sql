-- The registry. Instants are microseconds since 1970-01-01 UTC; fingerprints are 64 hexadecimal digits.
-- Forward only: a change is a new file, and what an older binary reads stays readable until nobody runs it.

CREATE TABLE definitions (
    version     BIGINT  PRIMARY KEY,
    fingerprint TEXT    NOT NULL,
    files       TEXT    NOT NULL,    -- JSON: [{"path", "text"}]
    applied_at  BIGINT  NOT NULL,
    applied_by  TEXT    NOT NULL
);

CREATE TABLE runs (
    id                  BIGINT PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
    as_of               BIGINT  NOT NULL,
    definitions_version BIGINT  NOT NULL,
    started_at          BIGINT  NOT NULL,
    finished_at         BIGINT,      -- null: going on, or its process died
    outcome             TEXT         -- JSON: {"outcome", ...}
);

CREATE TABLE reserved_release_numbers (
    number BIGINT PRIMARY KEY
);

CREATE TABLE releases (
    number  BIGINT  PRIMARY KEY,
    release TEXT    NOT NULL         -- JSON
);

CREATE TABLE bundles (
    id          BIGINT PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
    model       TEXT    NOT NULL,
    fingerprint TEXT    NOT NULL,
    bytes       BYTEA   NOT NULL,
    imported_at BIGINT  NOT NULL,
    UNIQUE (model, fingerprint)
);

CREATE INDEX bundles_by_fingerprint ON bundles (fingerprint);

CREATE TABLE leases (
    name       TEXT    PRIMARY KEY,
    holder     TEXT    NOT NULL,
    fence      BIGINT  NOT NULL,     -- grows with each grant
    held_until BIGINT                -- null: given back
);

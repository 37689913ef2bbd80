export const viewSchemaVersion = 1

/** A dropped view leaves its number behind, never to be given again, so dropping is one small write. */
export const viewSchema = `
  CREATE TABLE views (
    view       INTEGER PRIMARY KEY AUTOINCREMENT,
    projection TEXT    NOT NULL,
    version    INTEGER NOT NULL,
    position   TEXT    NOT NULL,
    event_id   TEXT    NOT NULL,
    documents  INTEGER NOT NULL,
    UNIQUE (projection, version)
  ) STRICT;
  CREATE TABLE documents (
    view  INTEGER NOT NULL,
    key   TEXT    NOT NULL,
    value TEXT    NOT NULL,
    terms TEXT    NOT NULL,
    sort  TEXT    NOT NULL,
    PRIMARY KEY (view, key)
  ) STRICT;
  CREATE TABLE terms (
    view INTEGER NOT NULL,
    term TEXT    NOT NULL,
    sort TEXT    NOT NULL,
    key  TEXT    NOT NULL,
    PRIMARY KEY (view, term, sort, key)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE snapshots (
    stream       TEXT    NOT NULL PRIMARY KEY,
    revision     INTEGER NOT NULL,
    hash         TEXT    NOT NULL,
    fold_version INTEGER NOT NULL,
    state        TEXT    NOT NULL,
    checksum     TEXT    NOT NULL
  ) STRICT`

//! The keys of sources.

use super::key;
use crate::language::Form::{DataType, List, Map, OneOf, Path, Reference, Span, Syntax, Timezone};
use crate::language::Object;
use crate::language::Presence::{Default, OrElse, Required};

pub(crate) static SOURCE: Object = Object {
    title: "`sources`",
    meaning: "Rows from outside, in files or in a table of PostgreSQL, each row with the instant at which it was true. There may be more columns than are declared, in any order; what is declared is never guessed and never coerced with loss. An empty field of a CSV file is null, whatever the column's type; a quoted empty one (`\"\"`) is empty text. JSON lines hold one object a line, with values as the [table of types](#types) has them; a key that a line leaves out is null, and a declared column that no line of any file has is refused. Numbers of JSON lines are read with all their digits, decimals among them. Timestamps in CSV and JSON lines are `2026-02-28`, `2026-02-28 22:00` or `2026-02-28T22:00:00.25`, with or without a zone (`Z`, `+01:00`, `+01`).",
    keys: &[
        key(
            "path",
            Path,
            OrElse("database"),
            "A file or a glob, relative to the project's folder, or to its `root`, and inside it. Of a Delta table, its folder.",
            "data/purchases/*.parquet",
        ),
        key(
            "root",
            Reference("root"),
            Default("the project's folder"),
            "Where the path starts, one of the project's `roots`.",
            "raw",
        ),
        key(
            "database",
            Reference("database"),
            OrElse("path"),
            "The PostgreSQL database that holds the rows, one of the project's `databases`.",
            "shop",
        ),
        key(
            "table",
            Syntax("`schema.table`"),
            OrElse("path"),
            "The table or view of the database, in the case in which the database keeps its name; a name alone is in schema `public`. A night reads each table once, all tables of a database as of one instant of it, and only rows of times up to its own as-of.",
            "public.purchases",
        ),
        key(
            "format",
            OneOf(&["parquet", "csv", "jsonl", "delta"]),
            Default("by the path's ending"),
            "How the files are read: `.parquet`, `.csv`, and `.jsonl` or `.ndjson` say it by themselves. `delta` is a Delta table, of whose newest version all rows are read; its partitions are columns like others, and a column that a file does not have yet is null there.",
            "csv",
        ),
        key(
            "delimiter",
            Syntax("one ASCII character"),
            Default("`,`"),
            "Between the fields of a CSV line.",
            "\";\"",
        ),
        key(
            "columns",
            Map(&DataType),
            Required,
            "The columns that the project may read, with their types.",
            "{ customer_id: int64, at: timestamp, amount: \"decimal(12,2)\" }",
        ),
        key(
            "partitions",
            List(&Reference("column")),
            Default("none: all columns are in the files"),
            "The declared columns that stand in the paths of the files, as folders `column=value`, and are read from there as CSV reads them: percent-encoded where the folders are, null where a value is `__HIVE_DEFAULT_PARTITION__`. A column of the same name inside a file is passed over.",
            "[year, month]",
        ),
        key(
            "event_time",
            Reference("column"),
            Required,
            "When a row was true: a `timestamp` or a `date` column. A row counts from this instant on (strictly after it).",
            "at",
        ),
        key(
            "created_time",
            Reference("column"),
            Default("none"),
            "When a row became known: a `timestamp` or a `date` column. Rows that were not known yet at an instant are not seen from there.",
            "loaded_at",
        ),
        key(
            "timezone",
            Timezone,
            Default("the project's"),
            "The zone of times without one.",
            "America/New_York",
        ),
        key(
            "retention",
            Span,
            Default("rows are kept for good"),
            "How far back the source is known to go: older rows may be gone. Windows that are longer are refused, and so is `lifetime`, which would shrink as rows go. It decides no value and is never part of a fingerprint.",
            "400d",
        ),
    ],
    about: true,
    example: "sources:
  purchases:
    path: data/purchases.csv
    event_time: at
    columns: { customer_id: int64, at: timestamp, amount: \"decimal(12,2)\" }
",
};

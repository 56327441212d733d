"""Files of sources as other programs write them, for `pipelines/src/snapshot/foreign_tests.rs`.

Needs pyarrow and duckdb. Run it in this folder; it writes everything anew.
"""

import datetime
import decimal
import json
import shutil

import duckdb
import pyarrow
import pyarrow.parquet

UTC = datetime.timezone.utc
TIMES = [
    datetime.datetime(1677, 9, 21, 0, 12, 43, tzinfo=UTC),
    datetime.datetime(1969, 12, 31, 23, 59, 59, 999999, tzinfo=UTC),
    datetime.datetime(2024, 2, 29, 12, 30, 0, 250000, tzinfo=UTC),
    datetime.datetime(2262, 4, 11, 23, 47, 16, tzinfo=UTC),
]

# The old 96-bit form of times, as Spark and Impala wrote it. Two of them are near the ends of what nanoseconds hold.
pyarrow.parquet.write_table(
    pyarrow.table({"k": [1, 2, 3, 4], "at": pyarrow.array(TIMES, pyarrow.timestamp("us", "UTC"))}),
    "int96.parquet",
    use_deprecated_int96_timestamps=True,
)

# Dictionaries in Arrow and in Parquet, in two row groups, with pages of the second version.
pyarrow.parquet.write_table(
    pyarrow.table(
        {
            "k": [1, 2, 3, 4],
            "at": pyarrow.array(TIMES[1:3] * 2, pyarrow.timestamp("ms", "UTC"), safe=False),
            "city": pyarrow.array(["Wien", None, "Graz", "Wien"]).dictionary_encode(),
            "amount": pyarrow.array([decimal.Decimal("0.10"), None, decimal.Decimal("-7.25"), decimal.Decimal("0.10")]),
        }
    ),
    "dictionary.parquet",
    row_group_size=3,
    use_dictionary=True,
    data_page_version="2.0",
)

pyarrow.parquet.write_table(
    pyarrow.schema([("k", pyarrow.int64()), ("at", pyarrow.timestamp("us", "UTC")), ("city", pyarrow.string())]).empty_table(),
    "no_rows.parquet",
)

ROWS = {
    "k": [1, 2, 3],
    "at": pyarrow.array([TIMES[2]] * 3, pyarrow.timestamp("us", "UTC")),
    "city": ["São Paulo/1", "a=b c%d", None],
    "year": pyarrow.array([2024, 24, None], pyarrow.int32()),
}
shutil.rmtree("pyarrow", ignore_errors=True)
pyarrow.parquet.write_to_dataset(
    pyarrow.table(ROWS), "pyarrow", partition_cols=["year", "city"], basename_template="part-{i}.parquet"
)

# The same by DuckDB.
shutil.rmtree("duckdb", ignore_errors=True)
rows = pyarrow.table(ROWS)
db = duckdb.connect()
db.execute("SET TimeZone = 'UTC'")
db.execute("COPY rows TO 'duckdb' (FORMAT parquet, PARTITION_BY (year, city), OVERWRITE_OR_IGNORE)")

# JSON lines: DuckDB writes numbers of decimals bare, and leaves nothing out.
db.execute(
    """
    COPY (
        SELECT * FROM (VALUES
            (9007199254740993, TIMESTAMPTZ '2024-02-29 12:30:00.25+00', 12345678901234567.89::DECIMAL(38, 2),
             ['a', NULL], {'x': 1, 'y': 'é"'}, DATE '2024-02-29', 0.1::DOUBLE),
            (2, TIMESTAMPTZ '1969-12-31 23:59:59.999999+00', NULL, [], NULL, NULL, 1e-300)
        ) AS t(k, "at", amount, tags, pair, day, share)
    ) TO 'duckdb.jsonl' (FORMAT json)
    """
)

# Python escapes what is not ASCII, and writes exponents.
with open("python.jsonl", "w") as file:
    for row in [
        {"k": 9007199254740993, "at": "2024-02-29T12:30:00.250000+00:00", "amount": "12345678901234567.89",
         "tags": ["a", None], "pair": {"x": 1, "y": 'é"', "z": []}, "day": "2024-02-29", "share": 0.1},
        {"k": 2, "at": TIMES[1].isoformat(), "tags": [], "share": 1e-300},
    ]:
        file.write(json.dumps(row) + "\n")

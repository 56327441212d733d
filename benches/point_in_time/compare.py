"""Times three point-in-time joins of the same files, and refuses to time one that answers otherwise.

Feature rows: keys x 10 instants a day apart x 20 float64 features, shuffled, TTL 3 days. Frame rows: a random key and
a random second of 14 days, so that some look before the first row and some after the last has expired.
Ours is a whole process, from its start; the peers are timed from the query to the file on disk, with Python already up.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

FEATURES = [f"f{number:02}" for number in range(20)]
TTL = "3 days"
PROJECT = """\
version: 1
project: join
"""
DEFINITIONS = """\
entities:
  thing:
    keys: {{ k: int64 }}
sources:
  rows:
    path: rows.parquet
    event_time: at
    columns: {{ k: int64, at: timestamp, {columns} }}
views:
  newest:
    entity: thing
    source: rows
    ttl: 3d
    latest: [{features}]
services:
  all:
    features: [newest.*]
"""


def make(folder, scale):
    """Writes `rows.parquet`, `frame.parquet` and a project over them."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    dice = np.random.default_rng(7)
    keys, day, start = 100_000 * scale, 86_400_000_000, 1_700_000_000_000_000
    k = np.repeat(np.arange(keys, dtype=np.int64), 10)
    at = start + np.tile(np.arange(10, dtype=np.int64) * day, keys)
    order = dice.permutation(len(k))
    instant = pa.timestamp("us", tz="UTC")
    columns = {"k": pa.array(k[order]), "at": pa.array(at[order], instant)}
    columns.update((name, pa.array(dice.random(len(k)))) for name in FEATURES)
    pq.write_table(pa.table(columns), folder / "rows.parquet", row_group_size=122_880, compression="snappy")
    asked = keys
    as_of = start + dice.integers(-day // 1_000_000, 13 * day // 1_000_000, asked) * 1_000_000
    frame = {"row": np.arange(asked), "k": dice.integers(0, keys, asked), "as_of": pa.array(as_of, instant)}
    pq.write_table(pa.table(frame), folder / "frame.parquet")
    (folder / "nightfill.yaml").write_text(PROJECT)
    columns = ", ".join(f"{name}: float64" for name in FEATURES)
    (folder / "join.yaml").write_text(DEFINITIONS.format(columns=columns, features=", ".join(FEATURES)))


def nightfill(arguments, folder, output):
    command = [arguments.nightfill, "--project", folder, "training-set", "--service", "all"]
    command += ["--entities", folder / "frame.parquet", "--output", output, "--threads", str(arguments.threads)]
    if arguments.memory:
        command += ["--memory", arguments.memory]
    subprocess.run(command, check=True, capture_output=True)


def duckdb(arguments, folder, output):
    import duckdb as engine

    fresh = "r.at >= f.as_of - INTERVAL " + repr(TTL)
    features = ", ".join(f"CASE WHEN {fresh} THEN r.{name} END AS {name}" for name in FEATURES)
    limit = f"SET memory_limit = '{arguments.memory}MiB';" if arguments.memory else ""
    connection = engine.connect()
    connection.execute(f"SET threads = {arguments.threads}; SET TimeZone = 'UTC'; {limit}")
    connection.execute(
        f"COPY (SELECT f.*, {features} FROM '{folder}/frame.parquet' f ASOF LEFT JOIN '{folder}/rows.parquet' r "
        f"ON f.k = r.k AND f.as_of >= r.at ORDER BY f.row) TO '{output}' (FORMAT parquet, COMPRESSION zstd)"
    )
    connection.close()


def polars(_, folder, output):
    import polars as engine

    frame = engine.scan_parquet(folder / "frame.parquet").sort("as_of")
    rows = engine.scan_parquet(folder / "rows.parquet").sort("at")
    joined = frame.join_asof(
        rows, left_on="as_of", right_on="at", by="k", strategy="backward", tolerance="3d", check_sortedness=False
    )
    joined.sort("row").select("row", "k", "as_of", *FEATURES).collect().write_parquet(
        output, compression="zstd", compression_level=1
    )


def on_disk(path):
    """Ours is on disk when it ends, so the others have to be as well."""
    with open(path, "rb+") as file:
        os.fsync(file.fileno())


PEERS = {"nightfill": nightfill, "duckdb": duckdb, "polars": polars}


def checksum(path):
    """A hash of all rows in order, bits of floats included, whatever features are called."""
    import hashlib

    import pyarrow.parquet as pq

    digest = hashlib.blake2b()
    table = pq.read_table(path)
    for place in range(table.num_columns):
        column = table.column(place).combine_chunks()
        digest.update(column.is_null().to_numpy(zero_copy_only=False).tobytes())
        digest.update(column.fill_null(0).to_numpy(zero_copy_only=False).tobytes() if place > 2 else b"")
    digest.update(table.column(0).combine_chunks().to_numpy().tobytes())
    return digest.hexdigest()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nightfill", required=True, type=lambda path: Path(path).resolve())
    parser.add_argument("--scale", type=int, default=1, help="times 1M feature rows and 100k frame rows")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--memory", metavar="MIB", help="limit of nightfill and DuckDB")
    parser.add_argument("--only", nargs="+", choices=PEERS, default=list(PEERS))
    parser.add_argument("--folder", type=Path, help="where files are kept; a temporary folder by default")
    arguments = parser.parse_args()
    # Read when Polars is first imported.
    os.environ["POLARS_MAX_THREADS"] = str(arguments.threads)

    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        make(folder, arguments.scale)
        subprocess.run([arguments.nightfill, "--project", folder, "apply"], check=True, capture_output=True)
        outputs = {name: folder / f"{name}.out.parquet" for name in arguments.only}
        sums = {}
        for name, output in outputs.items():
            PEERS[name](arguments, folder, output)
            sums[name] = checksum(output)
        if len(set(sums.values())) > 1:
            sys.exit("the joins differ, so nothing is timed: " + json.dumps(sums, indent=2))
        seconds = {name: [] for name in outputs}
        # In turn, so that a busy minute of the machine meets all of them.
        for _ in range(arguments.runs):
            for name, output in outputs.items():
                start = time.perf_counter()
                PEERS[name](arguments, folder, output)
                on_disk(output)
                seconds[name].append(time.perf_counter() - start)

    first = statistics.median(seconds[arguments.only[0]])
    limit = f"{arguments.memory} MiB" if arguments.memory else "the default"
    same = "; same answers from all" if len(sums) > 1 else ""
    print(f"{arguments.scale} M feature rows, {arguments.threads} threads, memory limit {limit}{same}")
    print(f"{'':12}{'median':>10}{'least':>10}{'most':>10}{'to ' + arguments.only[0]:>15}")
    for name, taken in seconds.items():
        median = statistics.median(taken)
        print(f"{name:12}{median:>9.3f}s{min(taken):>9.3f}s{max(taken):>9.3f}s{median / first:>14.2f}x")


if __name__ == "__main__":
    main()

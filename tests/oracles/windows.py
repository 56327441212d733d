"""Aggregates over windows, computed by DuckDB and compared with those of a training set.

    windows.py make BASKETS FOLDER      writes a project over baskets, and the frames to ask with
    windows.py compare FOLDER           holds trained.parquet and counted.parquet to DuckDB

Events are the baskets of the Complete Journey, with columns of more types. Whole numbers, decimals, texts and lists are to
be equal. Fractions are compared with what DuckDB adds up in another order, within the bounds beside them: ours are the
nearest floats to the exact results.
"""

import csv
import datetime as dt
import random
import sys
from pathlib import Path

import duckdb

SEED, PAIRS = 7, 10_000
WINDOWS = {"1h": 3_600_000_000, "1d": 86_400_000_000, "7d": 604_800_000_000, "30d": 2_592_000_000_000, "lifetime": None}
UTC = dt.timezone.utc

EVENTS = """
SELECT household_id, bought_at, store_id, lines,
    sales_cents - 2500 AS cents,
    CASE WHEN coupon_cents > 0 THEN coupon_cents END AS coupon,
    CAST(sales_cents / 100 AS DECIMAL(12,2)) AS price,
    CASE WHEN lines % 5 <> 0 THEN sales_cents / 7 END AS weight,
    'store ' || store_id AS store
FROM read_parquet('{}')
"""
COLUMNS = (
    "household_id: int32, bought_at: timestamp, store_id: int32, lines: int16, cents: int32, coupon: int32, "
    'price: "decimal(12,2)", weight: float64, store: string'
)

# How rows of one time stand: the greatest first, null last; the oldest is the last.
NEWEST = ", ".join(f"{c} DESC NULLS LAST" for c in ["bought_at", "store_id", "lines", "cents", "coupon", "price", "weight"])
OLDEST = NEWEST.replace("DESC NULLS LAST", "ASC NULLS FIRST")

# What may differ: nothing; a few units in the last place; what squares or interpolates floats, of numbers up to 1e5.
EXACT, ADDED, SQUARED, BETWEEN = (0, 0), (1e-15, 0), (1e-11, 0), (1e-15, 1e-9)
NONE, ZERO, EMPTY = None, 0, []

# An aggregate's name, call and filter, what DuckDB computes, what it is of no event, and what may differ.
AGGREGATES = [
    ("rows", "count()", None, "count(*)", ZERO, EXACT),
    ("coupons", "count(coupon)", None, "count(coupon)", ZERO, EXACT),
    ("stores", "distinct_count(store)", None, "count(DISTINCT store)", ZERO, EXACT),
    ("different_weights", "distinct_count(weight)", None, "count(DISTINCT weight)", ZERO, EXACT),
    ("dear", "count()", "cents > 0 and store_id < 400", "count(*) FILTER (WHERE cents > 0 AND store_id < 400)", ZERO, EXACT),
    ("dear_sum", "sum(cents)", "coupon > 50", "sum(cents) FILTER (WHERE coupon > 50)", NONE, EXACT),
    ("dear_last", "last(price)", "lines > 9", f"first(price ORDER BY {NEWEST}) FILTER (WHERE lines > 9)", NONE, EXACT),
    ("top_stores", "top_k(store, 2)", None, "any_value(top_stores)", EMPTY, EXACT),
    ("by_store", "sum(cents)", "lines > 1", "any_value(by_store)", EMPTY, EXACT),
    ("top_coupons", "top_k(coupon, 3)", None, "any_value(top_coupons)", EMPTY, EXACT),
]
for column in ["cents", "coupon", "price", "weight"]:
    double = f"{column}::DOUBLE"
    added = "fsum" if column == "weight" else "sum"
    AGGREGATES += [
        (f"{column}_sum", f"sum({column})", None, f"{added}({column})", NONE, ADDED if column == "weight" else EXACT),
        (f"{column}_mean", f"mean({column})", None, f"favg({double})", NONE, (1e-15, 1e-12)),
        (f"{column}_variance", f"variance({column})", None, f"var_samp({double})", NONE, SQUARED),
        (f"{column}_stddev", f"stddev({column})", None, f"stddev_samp({double})", NONE, SQUARED),
        (f"{column}_variance_pop", f"variance_pop({column})", None, f"var_pop({double})", NONE, SQUARED),
        (f"{column}_stddev_pop", f"stddev_pop({column})", None, f"stddev_pop({double})", NONE, SQUARED),
        (f"{column}_median", f"median({column})", None, f"median({double})", NONE, BETWEEN),
        (f"{column}_most", f"quantile({column}, 0.9)", None, f"quantile_cont({double}, 0.9)", NONE, BETWEEN),
    ]
for column in ["cents", "coupon", "price", "weight", "store"]:
    AGGREGATES += [
        (f"{column}_min", f"min({column})", None, f"min({column})", NONE, EXACT),
        (f"{column}_max", f"max({column})", None, f"max({column})", NONE, EXACT),
        (f"{column}_first", f"first({column})", None, f"first({column} ORDER BY {OLDEST})", NONE, EXACT),
        (f"{column}_last", f"last({column})", None, f"first({column} ORDER BY {NEWEST})", NONE, EXACT),
        (f"{column}_oldest", f"first({column}, 2)", None, f"list({column} ORDER BY {OLDEST})[:2]", EMPTY, EXACT),
        (f"{column}_newest", f"last({column}, 3)", None, f"list({column} ORDER BY {NEWEST})[:3]", EMPTY, EXACT),
    ]

db = duckdb.connect()
db.sql("SET TimeZone = 'UTC'")


def definitions() -> str:
    aggregates = []
    for name, call, condition, *_ in AGGREGATES:
        by = ", by: store_id" if name == "by_store" else ""
        full = f'{{ of: "{call}", filter: "{condition}"{by} }}' if condition else f'"{call}"'
        aggregates.append(f"      {name}: {full}\n")
    return f"""\
entities:
  household: {{ keys: {{ household_id: int32 }} }}
sources:
  events:
    path: events.parquet
    event_time: bought_at
    columns: {{ {COLUMNS} }}
views:
  of:
    entity: household
    source: events
    windows: [{", ".join(WINDOWS)}]
    aggregate:
{"".join(aggregates)}
  counted: {{ entity: household, source: events, windows: [7d], aggregate: {{ baskets: count() }} }}
services:
  everything: {{ features: [of.*] }}
  counted: {{ features: [counted.*] }}
"""


def written(t: dt.datetime) -> str:
    return t.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def write_frame(path: Path, pairs: list) -> None:
    with path.open("w", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["n", "household_id", "as_of"])
        rows.writerows((n, household, written(t)) for n, (household, t) in enumerate(pairs))


def make(baskets: str, folder: Path) -> None:
    db.sql(f"CREATE TABLE events AS {EVENTS.format(baskets)}")
    db.sql(f"COPY events TO '{folder}/events.parquet'")
    events = db.sql("SELECT household_id, bought_at FROM events ORDER BY ALL").fetchall()
    households = sorted({household for household, _ in events})
    first, last = min(t for _, t in events), max(t for _, t in events)
    length = (last - first) // dt.timedelta(microseconds=1)
    dice = random.Random(SEED)
    pairs = []
    for n in range(PAIRS):
        if n % 2:
            # Where it is easy to be wrong by one event: at the edge of a window behind one, or a microsecond beside it.
            household, t = dice.choice(events)
            edge = dice.choice([0, *(span for span in WINDOWS.values() if span)])
            micros = edge + dice.choice([-1, 0, 1])
        else:
            household, t = dice.choice(households), first
            micros = dice.randrange(length)
        pairs.append((household, t + dt.timedelta(microseconds=micros)))
    write_frame(folder / "frame.csv", pairs)
    write_frame(folder / "baskets.csv", events)
    (folder / "features").mkdir(exist_ok=True)
    (folder / "features/all.yaml").write_text(definitions())


def expected(span: int | None) -> dict:
    """The aggregates of each frame row with an event in the window."""
    inside = f"AND e.bought_at >= f.as_of - to_microseconds({span})" if span else ""
    computed = ", ".join(f"{sql} AS {name}" for name, _, _, sql, *_ in AGGREGATES)

    def top(column: str, length: int) -> str:
        return f"""
        SELECT n, list({column} ORDER BY times DESC, {column})[:{length}] AS top_{column}s
        FROM (SELECT n, {column}, count(*) AS times FROM near WHERE {column} IS NOT NULL GROUP BY ALL) GROUP BY n
        """

    found = db.sql(f"""
        WITH near AS (
            SELECT f.n, e.* FROM frame f JOIN events e
            ON e.household_id = f.household_id AND e.bought_at < f.as_of {inside}
        )
        SELECT near.n, {computed} FROM near
        LEFT JOIN (
            SELECT n, list({{'store_id': store_id, 'value': value}} ORDER BY store_id) AS by_store FROM (
                SELECT n, store_id, sum(cents)::BIGINT AS value FROM near WHERE lines > 1 GROUP BY ALL
            ) GROUP BY n
        ) b ON b.n = near.n
        LEFT JOIN ({top("store", 2)}) s ON s.n = near.n LEFT JOIN ({top("coupon", 3)}) c ON c.n = near.n
        GROUP BY near.n
    """)
    return {n: values for n, *values in found.fetchall()}


def differs(ours, theirs, bound: tuple) -> bool:
    if isinstance(ours, float) and isinstance(theirs, float):
        relative, absolute = bound
        return abs(ours - theirs) > max(relative * abs(theirs), absolute)
    return type(ours) is not type(theirs) or ours != theirs


def compare(folder: Path) -> None:
    db.sql(f"CREATE TABLE events AS FROM read_parquet('{folder}/events.parquet')")
    types = "{'n': 'INTEGER', 'household_id': 'INTEGER', 'as_of': 'TIMESTAMPTZ'}"
    db.sql(f"CREATE TABLE frame AS FROM read_csv('{folder}/frame.csv', types = {types})")
    trained = f"read_parquet('{folder}/trained.parquet')"
    known = expected(None)
    compared, present, wrong = 0, 0, []
    for window, span in WINDOWS.items():
        names = ", ".join(f'"of.{name}_{window}"' for name, *_ in AGGREGATES)
        ours = {n: values for n, *values in db.sql(f"SELECT n, {names} FROM {trained}").fetchall()}
        assert sorted(ours) == list(range(PAIRS)), "the rows of the frame"
        theirs = expected(span)
        for n, values in ours.items():
            # A household without any event before has no row.
            nothing = [of_nothing if n in known else None for *_, of_nothing, _ in AGGREGATES]
            for aggregate, our, their in zip(AGGREGATES, values, theirs.get(n, nothing)):
                name, *_, of_nothing, bound = aggregate
                their = of_nothing if their is None and n in known else their
                compared += 1
                present += our is not None
                if differs(our, their, bound):
                    wrong.append(f"{name}_{window} of row {n}: {our!r}, and DuckDB has {their!r}")
    counted = f"read_parquet('{folder}/counted.parquet')"
    ((counted,),) = db.sql(f'SELECT sum("counted.baskets_7d") FROM {counted}').fetchall()
    ((golden,),) = db.sql("""
        SELECT sum(baskets) FROM (SELECT count(*) OVER (PARTITION BY household_id ORDER BY epoch_us(bought_at)
            RANGE BETWEEN 604800000000 PRECEDING AND 1000000 PRECEDING) AS baskets FROM events)
    """).fetchall()
    if counted != golden:
        wrong.append(f"{counted} baskets in the 7 days before each, and DuckDB has {golden}")
    print(f"compared {compared} values, {present} of them present; {counted} baskets in the 7 days before each")
    if wrong:
        sys.exit("\n".join([*wrong[:40], f"{len(wrong)} differ"]))


match sys.argv[1:]:
    case ["make", baskets, folder]:
        make(baskets, Path(folder))
    case ["compare", folder]:
        compare(Path(folder))
    case _:
        sys.exit(__doc__)

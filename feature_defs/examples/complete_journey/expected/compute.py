"""Computes values.csv from data/*.parquet without Nightfill: windows in DuckDB, the rest in plain Python.

    pip install duckdb==2.0.1
    python expected/compute.py

frame.csv holds pairs of a household and an instant, and values.csv, row for row, what the service `everything_v1`
gives as of there; an empty field is null or missing. Whole numbers and texts are to be equal; fractions to 1e-9 of
themselves, for a deviation (`gap_days_stddev`) may be added up in another order.
"""

import csv
import datetime as dt
import math
from collections import Counter
from pathlib import Path
from zoneinfo import ZoneInfo

import duckdb

HERE = Path(__file__).resolve().parent
DATA = HERE.parent / "data"
UTC, SHOP = dt.timezone.utc, ZoneInfo("America/New_York")
DAY, TICK = dt.timedelta(days=1), dt.timedelta(microseconds=1)
WINDOWS = {"7d": 7 * DAY, "30d": 30 * DAY, "90d": 90 * DAY, "lifetime": None}
ANSWERS = ["age", "income", "home_ownership", "marital_status", "household_size", "kids_count"]

db = duckdb.connect()
db.sql("SET TimeZone = 'UTC'")
for name in ["baskets", "redemptions", "campaigns", "demographics"]:
    db.sql(f"CREATE VIEW {name} AS SELECT * FROM read_parquet('{(DATA / name).as_posix()}.parquet')")

# The features of `everything_v1`, in its order.
ORDER = [
    *[f"spend.{a}_{w}" for a in ["baskets", "sales_cents", "saved_cents", "coupon_cents"] for w in WINDOWS],
    *[f"usual.{a}_{w}" for a in ["basket_cents", "most_cents", "lines", "stores"] for w in ["90d", "lifetime"]],
    *[f"habits.{a}" for a in ["days_since_basket", "gap_days_mean", "gap_days_stddev", "sales_cents_per_week"]],
    *[f"habits.{a}" for a in ["favourite_store", "favourite_share", "private_share_90d"]],
    *[f"coupons.{a}_{w}" for a in ["used", "campaigns"] for w in ["30d", "90d", "lifetime"]],
    *[f"mailings.{a}" for a in ["received", "running", "days_since_newest"]],
    *[f"answers.{a}" for a in ANSWERS],
]


def rows(sql: str, *parameters) -> list:
    return db.execute(sql, parameters).fetchall()


def midnight(day: dt.date) -> dt.datetime:
    return dt.datetime.combine(day, dt.time(), SHOP).astimezone(UTC)


def seconds(t: dt.datetime) -> int:
    """Whole seconds: habits.sql takes an instant as these."""
    return (t - dt.datetime(1970, 1, 1, tzinfo=UTC)) // dt.timedelta(seconds=1)


def pairs() -> list:
    """Places where it is easy to be wrong by one event, then plain ones."""
    out = []
    households = [h for (h,) in rows("SELECT household_id FROM demographics ORDER BY household_id")]
    # At, right after, and a window after a basket: the upper edge is outside, the lower edge is inside.
    for i, household in enumerate(households[5::100]):
        sql = "SELECT bought_at FROM baskets WHERE household_id = ? ORDER BY bought_at"
        mine = [t for (t,) in rows(sql, household)]
        t = mine[len(mine) // 2]
        span = [7, 30, 90][i % 3] * DAY
        out += [(household, t), (household, t + TICK), (household, t + span), (household, t + span + TICK)]
    # Before, at and after the first basket of the household that came last: no row, no row, a row of one basket.
    last, first = rows("SELECT household_id, min(bought_at) FROM baskets GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 1")[0]
    out += [(last, first - TICK), (last, first), (last, first + TICK)]
    # A coupon counts for its day, and is known from the next midnight on; in between, and 30 days after its midnight.
    for household, day in rows("SELECT household_id, max(redeemed_on) FROM redemptions GROUP BY 1 ORDER BY 1 LIMIT 2"):
        start, end = midnight(day), midnight(day + DAY)
        times = [start + DAY / 2, end - TICK, end, start + 30 * DAY, start + 30 * DAY + TICK]
        out += [(household, t) for t in times]
    # A campaign starts after the first instant of its day, and ends with its last day, in New York and not in UTC.
    household, start, end = rows(
        "SELECT household_id, starts_on, ends_on FROM campaigns WHERE campaign_id = 18 ORDER BY 1 LIMIT 1"
    )[0]
    start, evening, end = midnight(start), midnight(end) + dt.timedelta(hours=20), midnight(end + DAY)
    out += [(household, t) for t in [start, start + TICK, evening, end - TICK, end]]
    # Two baskets in one second.
    twice = rows("SELECT household_id, bought_at FROM baskets GROUP BY 1, 2 HAVING count(*) > 1 ORDER BY 2 LIMIT 2")
    out += [(household, t + TICK) for household, t in twice]
    # Nights around the two changes of clocks, and the year's last; a household that nobody knows.
    days = [(3, 13), (4, 11), (11, 4), (11, 6), (12, 31)]
    nights = [dt.datetime(2017, month, day, 2, 30, tzinfo=SHOP).astimezone(UTC) for month, day in days]
    out += [(household, night) for household in households[40::160] for night in nights]
    return out + [(99999999, nights[2])]


def features(household: int, t: dt.datetime) -> dict:
    out = {}
    for window, span in WINDOWS.items():
        inside = "household_id = ? AND bought_at < ? AND bought_at >= ?"
        since = t - span if span else dt.datetime(1, 1, 1, tzinfo=UTC)
        n, paid, saved, coupons, most, lines, stores = rows(
            "SELECT count(*), sum(sales_cents), sum(saved_cents), sum(coupon_cents), max(sales_cents), sum(lines),"
            f" count(DISTINCT store_id) FROM baskets WHERE {inside}",
            household, t, since,
        )[0]
        out |= {
            f"spend.baskets_{window}": n,
            f"spend.sales_cents_{window}": paid,
            f"spend.saved_cents_{window}": saved,
            f"spend.coupon_cents_{window}": coupons,
            f"usual.basket_cents_{window}": paid / n if n else None,
            f"usual.most_cents_{window}": most,
            f"usual.lines_{window}": lines / n if n else None,
            f"usual.stores_{window}": stores,
        }

        # Days whose midnight is in the window, and that are over.
        inside = "household_id = ? AND redeemed_on >= ? AND known_on <= ?"
        local = t.astimezone(SHOP).date()
        since = (t - span).astimezone(SHOP) if span else dt.datetime(1, 1, 1)
        day = since.date() if since.time() == dt.time() else since.date() + DAY
        used, campaigns = rows(
            f"SELECT count(*), count(DISTINCT campaign_id) FROM redemptions WHERE {inside}", household, day, local
        )[0]
        out |= {f"coupons.used_{window}": used, f"coupons.campaigns_{window}": campaigns}
    if not out["spend.baskets_lifetime"]:  # nothing known: no row, and so not even zeros
        out = {name: None if name.startswith(("spend.", "usual.")) else value for name, value in out.items()}
    if not out["coupons.used_lifetime"]:
        out = {name: None if name.startswith("coupons.") else value for name, value in out.items()}

    baskets = rows(
        "SELECT bought_at, store_id, sales_cents, private_cents FROM baskets WHERE household_id = ? AND bought_at < ?"
        " ORDER BY bought_at", household, t
    )
    if baskets:
        times = [seconds(b[0]) for b in baskets]
        gaps = [after - before for before, after in zip(times, times[1:])]
        mean = sum(gaps) / len(gaps) if gaps else None
        squares = math.fsum((gap - mean) ** 2 for gap in gaps)
        store, visits = min(Counter(b[1] for b in baskets).items(), key=lambda item: (-item[1], item[0]))
        late = [b for b in baskets if b[0] >= t - 90 * DAY]
        paid = sum(b[2] for b in late)
        out |= {
            "habits.days_since_basket": (seconds(t) - times[-1]) / 86400,
            "habits.gap_days_mean": mean / 86400 if gaps else None,
            "habits.gap_days_stddev": math.sqrt(squares / (len(gaps) - 1)) / 86400 if len(gaps) > 1 else None,
            "habits.sales_cents_per_week": sum(b[2] for b in baskets) / max((seconds(t) - times[0]) / 604800, 1),
            "habits.favourite_store": store,
            "habits.favourite_share": visits / len(baskets),
            "habits.private_share_90d": sum(b[3] for b in late) / paid if paid else None,
        }

    sent = rows("SELECT starts_on, ends_on FROM campaigns WHERE household_id = ?", household)
    sent = [(start, end) for start, end in sent if midnight(start) < t]
    if sent:
        today = t.astimezone(SHOP).date()
        out["mailings.received"] = len(sent)
        out["mailings.running"] = sum(t < midnight(end + DAY) for _, end in sent)
        out["mailings.days_since_newest"] = (today - max(start for start, _ in sent)).days

    sql = f"SELECT {', '.join(ANSWERS)} FROM demographics WHERE household_id = ? AND known_since <= ?"
    answers = rows(sql, household, t)
    return out | {f"answers.{name}": value for name, value in zip(ANSWERS, answers[0] if answers else [])}


def main() -> None:
    frame = pairs()
    with open(HERE / "frame.csv", "w", newline="") as f, open(HERE / "values.csv", "w", newline="") as v:
        frames, values = csv.writer(f, lineterminator="\n"), csv.writer(v, lineterminator="\n")
        frames.writerow(["household_id", "as_of"])
        values.writerow(ORDER)
        for household, t in frame:
            at = t.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
            frames.writerow([household, at])
            found = features(household, t)
            values.writerow([found.get(name) for name in ORDER])
    week = rows(
        "SELECT count(*) FROM baskets a JOIN baskets b ON a.household_id = b.household_id"
        " AND b.bought_at >= a.bought_at - INTERVAL 168 HOUR AND b.bought_at < a.bought_at"
    )[0][0]
    print(f"{len(frame)} pairs of {len(ORDER)} features")
    print(f"over all baskets, the sum of the baskets of the same household in the 7 days before: {week}")


if __name__ == "__main__":
    main()

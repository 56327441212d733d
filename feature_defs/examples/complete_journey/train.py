"""Trains models/spends_200_30d.txt: frame -> `nightfill training-set` -> LightGBM -> text model.

    pip install lightgbm==4.7.0 pandas pyarrow
    nightfill apply
    python train.py                # NIGHTFILL=path/to/nightfill, if it is not on the path

The frame has a row for each basket of every sixth day. Its `as_of` is 02:00 of that day in New York: the night that runs
then is what serving answers from all day. The second of the basket it is not: nobody has computed that far by then.
"""

import os
import subprocess
from pathlib import Path

import lightgbm as lgb
import numpy as np
import pandas as pd

HERE = Path(__file__).resolve().parent
BUILD = HERE / "build"
ZONE = "America/New_York"
DOLLARS = 200
AHEAD = pd.Timedelta(days=30)
# In the spring, the windows of 90 days look into a time of which there is no data yet: those days teach little.
DAYS = pd.date_range("2017-03-15", "2017-11-30", freq="6D")
TRAIN_UNTIL = "2017-09-01"  # the last label ends 30 days later: before the first day of the test
TEST_FROM = "2017-10-01"


def frame() -> pd.DataFrame:
    baskets = pd.read_parquet(HERE / "data" / "baskets.parquet").sort_values(["household_id", "bought_at"])
    # What the household buys for within 30 days after each basket, without the basket itself and others of its second.
    later = np.empty(len(baskets), dtype="int64")
    start = 0
    for _, mine in baskets.groupby("household_id", sort=False):
        times = mine["bought_at"].dt.tz_localize(None).to_numpy()
        sums = np.concatenate([[0], mine["sales_cents"].to_numpy().cumsum()])
        until = np.searchsorted(times, times + AHEAD.to_timedelta64(), side="right")
        after = np.searchsorted(times, times, side="right")
        later[start : start + len(mine)] = sums[until] - sums[after]
        start += len(mine)

    local = baskets["bought_at"].dt.tz_convert(ZONE)
    day = local.dt.tz_localize(None).dt.normalize()
    as_of = (day + pd.Timedelta(hours=2)).dt.tz_localize(ZONE, ambiguous=True, nonexistent="shift_forward")
    rows = pd.DataFrame(
        {
            "household_id": baskets["household_id"],
            "as_of": as_of.dt.tz_convert("UTC"),
            "basket_cents": baskets["sales_cents"].astype("int64"),
            "basket_lines": baskets["lines"].astype("int64"),
            "label": later > DOLLARS * 100,
        }
    )
    # Baskets between midnight and the night's run are not served from that night's release.
    rows = rows[day.isin(DAYS) & (local >= as_of)]
    return rows.sort_values(["as_of", "household_id", "basket_cents"], kind="stable").reset_index(drop=True)


def auc(label: np.ndarray, score: np.ndarray) -> float:
    ranks = pd.Series(score).rank().to_numpy()
    positives = label.sum()
    return (ranks[label].sum() - positives * (positives + 1) / 2) / (positives * (len(label) - positives))


def main() -> None:
    BUILD.mkdir(exist_ok=True)
    rows = frame()
    rows.to_parquet(BUILD / "frame.parquet", index=False)
    nights = rows["as_of"].nunique()
    print(f"frame: {len(rows)} baskets as of {nights} nights, {rows['label'].mean():.3f} of them positive")

    nightfill = os.environ.get("NIGHTFILL", "nightfill")
    command = "training-set --service household_v1 --entities build/frame.parquet -o build/training.parquet"
    subprocess.run([nightfill, *command.split()], cwd=HERE, check=True)

    training = pd.read_parquet(BUILD / "training.parquet")
    features = [name for name in training.columns if "." in name]  # `view.feature`, in the service's order
    values, label = training[features].astype("float64"), training["label"].to_numpy()
    train, test = (training["as_of"] < TRAIN_UNTIL).to_numpy(), (training["as_of"] >= TEST_FROM).to_numpy()

    parameters = {
        "objective": "binary",
        "num_leaves": 12,
        "learning_rate": 0.06,
        "min_data_in_leaf": 60,
        "feature_fraction": 0.7,
        # The same model wherever it is trained.
        "seed": 7,
        "deterministic": True,
        "force_row_wise": True,
        "num_threads": 1,
        "verbose": -1,
    }
    model = lgb.train(parameters, lgb.Dataset(values[train], label[train]), num_boost_round=80)
    model.save_model(HERE / "models" / "spends_200_30d.txt")

    naive = values["spend.sales_cents_30d"].fillna(0).to_numpy()
    print(f"train: {train.sum()} rows, test: {test.sum()} rows, {label[test].mean():.3f} of them positive")
    print(f"AUC of the test: {auc(label[test], model.predict(values[test])):.4f}")
    print(f"AUC of the spend of the last 30 days alone: {auc(label[test], naive[test]):.4f}")
    print("wrote models/spends_200_30d.txt")


if __name__ == "__main__":
    main()

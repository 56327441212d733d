"""Trains the model `buys_again_90d` on what `nightfill training-set` says was known at each purchase.

    python -m venv v && v/bin/pip install lightgbm==4.7.0 numpy==2.4.6 pyarrow==26.0.1
    v/bin/python train.py --nightfill ../../../target/release/nightfill

The entity frame has one row for each purchase: who, when, and the basket at hand. The label is whether the customer
buys on a later day within 90 days; purchases whose 90 days reach past the end of the data are left out. Features come
from the training set alone, as they were known before the purchase's day. A fifth of the customers, chosen by a hash of
their number, is held out with all its purchases: no customer stands on both sides.

Writes model/buys_again_90d.txt, and 2,000 rows with LightGBM's own raw predictions for the scorer's tests. Seeds are
fixed and one thread trains, so a second run writes the same files. Prints the quality table of the README.
"""

import argparse
import os
import pathlib
import shutil
import subprocess
import tempfile

import lightgbm
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

HERE = pathlib.Path(__file__).resolve().parent
PREDICTIONS = HERE.parents[2] / "scorer/tests/data/buys_again_90d.parquet"
SERVICE = "buys_again_v1"
HORIZON_DAYS = 90
STORED_ROWS = 2000
ROUNDS = 100
PARAMETERS = {
    "objective": "binary",
    "num_leaves": 31,
    "learning_rate": 0.04,
    "min_data_in_leaf": 100,
    "lambda_l2": 10.0,
    "feature_fraction": 0.5,
    "bagging_fraction": 0.7,
    "bagging_freq": 1,
    "seed": 19971001,
    "num_threads": 1,
    "deterministic": True,
    "force_row_wise": True,
    "verbosity": -1,
}


def entity_frame():
    """One row for each purchase whose next 90 days lie within the data: key, as-of, request fields, label."""
    purchases = pq.read_table(HERE / "data/purchases.parquet")
    customers = purchases["customer_id"].to_numpy()
    days = purchases["purchase_date"].cast(pa.int32()).to_numpy()
    next_day = np.full(len(days), np.iinfo(np.int32).max)
    by_customer = {}
    for row in np.lexsort((days, customers))[::-1]:
        later = by_customer.setdefault(customers[row], [])
        if not later or later[-1] != days[row]:
            later.append(days[row])
        if len(later) > 1:
            next_day[row] = later[-2]
    frame = pa.table({
        "customer_id": purchases["customer_id"],
        "as_of": purchases["purchase_date"],
        "amount_cents": purchases["amount_cents"].cast(pa.int64()),
        "cds": purchases["cds"].cast(pa.int32()),
        "bought_again": pa.array(next_day - days <= HORIZON_DAYS),
    })
    return frame.filter(pa.array(days + HORIZON_DAYS <= days.max()))


def training_set(nightfill, frame):
    """What was known at each row of the frame, by the product's own command on a fresh copy of the project."""
    with tempfile.TemporaryDirectory() as folder:
        project = pathlib.Path(folder) / "cdnow"
        shutil.copytree(HERE, project, ignore=shutil.ignore_patterns(".nightfill", "model", "*.py"))
        frame_file, output = project / "frame.parquet", project / "training.parquet"
        pq.write_table(frame, frame_file)
        for verb in (["apply"], ["training-set", "--service", SERVICE, "--entities", frame_file, "-o", output]):
            subprocess.run([nightfill, "--project", project, *verb], check=True)
        return pq.read_table(output)


def matrix(table, names):
    """One float64 column for each feature; null becomes NaN."""
    return np.column_stack([pc.cast(table[name], pa.float64()).to_numpy(zero_copy_only=False) for name in names])


def is_held_out(customers):
    """A fifth of the customers, by a multiplicative hash."""
    return (customers.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15) >> np.uint64(32)) % 5 == 0


def auc(labels, scores):
    """Probability that a positive scores above a negative; ties count half."""
    values, inverse, counts = np.unique(scores, return_inverse=True, return_counts=True)
    mean_ranks = np.cumsum(counts) - (counts - 1) / 2
    positives = labels.sum()
    return (mean_ranks[inverse][labels].sum() - positives * (positives + 1) / 2) / (positives * (len(labels) - positives))


def auc_error(labels, scores, customers):
    """Standard error of the AUC over 200 resamples of customers."""
    rng = np.random.default_rng(1)
    _, inverse = np.unique(customers, return_inverse=True)
    rows = np.split(np.argsort(inverse, kind="stable"), np.cumsum(np.bincount(inverse))[:-1])
    samples = []
    for _ in range(200):
        drawn = np.concatenate([rows[at] for at in rng.integers(0, len(rows), len(rows))])
        samples.append(auc(labels[drawn], scores[drawn]))
    return np.std(samples)


def log_loss(labels, probabilities):
    return -np.mean(np.where(labels, np.log(probabilities), np.log1p(-probabilities)))


def calibration_error(labels, probabilities):
    """Mean over tenths by score of |mean prediction - share of positives|."""
    tenths = np.array_split(np.argsort(probabilities, kind="stable"), 10)
    return np.mean([abs(probabilities[tenth].mean() - labels[tenth].mean()) for tenth in tenths])


def recency_frequency(table):
    """What the simple baseline sees: whether there was an earlier purchase, days bought, weeks since the last one."""
    frequency, recency, age = matrix(table, [f"customer_rfm.{name}" for name in ("frequency", "recency_weeks", "t_weeks")]).T
    known = ~np.isnan(age)
    silence = np.where(known, age - recency, 0)
    return np.column_stack([known, np.log1p(np.where(known, frequency, 0)), np.log1p(np.maximum(silence, 0))]).astype(float)


def logistic_regression(features, labels):
    """Weights by Newton's method, the intercept first."""
    design = np.column_stack([np.ones(len(features)), features])
    weights = np.zeros(design.shape[1])
    for _ in range(25):
        expected = 1 / (1 + np.exp(-design @ weights))
        hessian = design.T @ (design * (expected * (1 - expected))[:, None]) + 1e-6 * np.eye(design.shape[1])
        weights += np.linalg.solve(hessian, design.T @ (labels - expected))
    return weights


def store_predictions(booster, names, features, table):
    """Rows of customers held out, nulls as they came, a NaN in each tenth value of a float column, and predictions."""
    rng = np.random.default_rng(2)
    rows = np.sort(rng.choice(len(features), STORED_ROWS, replace=False))
    columns = {}
    for at, name in enumerate(names):
        values = features[rows, at].copy()
        null = table[name].is_null().to_numpy()[rows]
        if pa.types.is_floating(table[name].type):
            values[rng.random(STORED_ROWS) < 0.1] = np.nan
        else:
            null |= rng.random(STORED_ROWS) < 0.05
        columns[name] = pa.array(values, pa.float64(), mask=null)
    table = pa.table(columns)
    raw = booster.predict(matrix(table, names), raw_score=True)
    pq.write_table(table.append_column("raw_score", pa.array(raw)), PREDICTIONS, compression="zstd")
    nans = sum(int(np.isnan(column.drop_null().to_numpy()).sum()) for column in table.columns)
    print(f"{STORED_ROWS} rows stored with {sum(c.null_count for c in table.columns)} nulls and {nans} NaN")


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--nightfill", default=os.environ.get("NIGHTFILL", "nightfill"), help="the binary")
    nightfill = shutil.which(arguments.parse_args().nightfill)
    if nightfill is None:
        arguments.error("no nightfill binary: build one, and name it by --nightfill or NIGHTFILL")
    frame = entity_frame()
    table = training_set(pathlib.Path(nightfill).resolve(), frame)
    names = [name for name in table.column_names if name not in frame.column_names]
    features, labels = matrix(table, names), table["bought_again"].to_numpy()
    customers = table["customer_id"].to_numpy()
    test = is_held_out(customers)
    train = ~test

    dataset = lightgbm.Dataset(features[train], labels[train], feature_name=names, params=PARAMETERS)
    booster = lightgbm.train(PARAMETERS, dataset, ROUNDS)
    (HERE / "model").mkdir(exist_ok=True)
    booster.save_model(HERE / "model/buys_again_90d.txt")
    store_predictions(booster, names, features[test], table.filter(pa.array(test)))

    simple = recency_frequency(table)
    weights = logistic_regression(simple[train], labels[train])
    base_rate = labels[train].mean()
    models = {
        "base rate": np.full(test.sum(), base_rate),
        "logistic regression on recency and frequency": 1 / (1 + np.exp(-(weights[0] + simple[test] @ weights[1:]))),
        f"LightGBM, {booster.num_trees()} trees": booster.predict(features[test]),
    }
    count = lambda rows: f"{rows.sum():,} purchases of {len(np.unique(customers[rows])):,} customers"
    print(f"trained on {count(train)}; held out {count(test)}, {labels[test].mean():.1%} of them followed by another\n")
    print("| on customers held out | AUC | log loss | calibration error |\n| --- | --- | --- | --- |")
    for name, probabilities in models.items():
        error = auc_error(labels[test], probabilities, customers[test])
        print(f"| {name} | {auc(labels[test], probabilities):.3f} ± {error:.3f} | {log_loss(labels[test], probabilities):.4f} "
              f"| {calibration_error(labels[test], probabilities):.3f} |")
    ours = list(models.values())[-1]
    print("\n| tenth by score | mean prediction | bought again | purchases |\n| --- | --- | --- | --- |")
    for number, tenth in enumerate(np.array_split(np.argsort(ours, kind="stable"), 10), 1):
        print(f"| {number} | {ours[tenth].mean():.3f} | {labels[test][tenth].mean():.3f} | {len(tenth):,} |")
    print("\ngain by feature: " + ", ".join(
        f"{name} {gain:,.0f}" for gain, name in sorted(zip(booster.feature_importance("gain"), names), reverse=True)[:8]))


if __name__ == "__main__":
    main()

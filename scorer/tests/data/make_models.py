"""Trains the small LightGBM models that tests/lightgbm.rs reads, and stores LightGBM's own predictions of awkward rows.

    python -m venv v && v/bin/pip install lightgbm==4.7.0 numpy
    v/bin/python make_models.py

For each model: NAME.txt, and NAME.bin = rows u32, features u32, then rows * features f64, then rows f64 of predictions
before the objective's transform, all little-endian. Fixed seeds; a second run writes the same bytes.
"""

import pathlib
import re
import struct

import lightgbm
import numpy as np

HERE = pathlib.Path(__file__).parent
ROWS = 240
COMMON = {"seed": 7, "num_threads": 1, "deterministic": True, "force_row_wise": True, "verbosity": -1}
SPECIAL = [np.nan, 0.0, -0.0, np.inf, -np.inf, 1e-36, -1e-36, 1e-35, -1e-35, 1.1e-35, -1.1e-35, 1e308, -1e308, 0.5, -0.5, -1.0]


def numbers(rng, rows):
    """Five features: normal; whole numbers; half of it zero; a tenth NaN; almost constant."""
    features = np.column_stack([
        rng.normal(size=rows),
        rng.integers(-5, 20, rows).astype(float),
        np.where(rng.random(rows) < 0.5, 0.0, rng.normal(size=rows) * 10),
        np.where(rng.random(rows) < 0.1, np.nan, rng.exponential(100, rows)),
        np.where(rng.random(rows) < 0.95, 1.0, rng.normal(size=rows)),
    ])
    missing = np.isnan(features[:, 3])
    target = (features[:, 0] + 0.2 * features[:, 1] + (features[:, 2] > 0)
              + np.where(missing, 3.0, np.log1p(features[:, 3]) / 3) + rng.normal(size=rows) * 0.3)
    return features, target


def categories(rng, rows):
    """Two features of category codes, one of them to 70, and a number."""
    features = np.column_stack([
        rng.integers(0, 71, rows).astype(float),
        rng.integers(0, 5, rows).astype(float),
        rng.normal(size=rows),
    ])
    effect = rng.normal(size=71)
    target = effect[features[:, 0].astype(int)] + (features[:, 1] == 3) + 0.3 * features[:, 2]
    return features, target + rng.normal(size=rows) * 0.1


def awkward(rng, text, features):
    """Rows of thresholds and their neighbours in double and single precision, special values and training values."""
    edges = {feature: [] for feature in range(features.shape[1])}
    for tree in text.split("Tree=")[1:]:
        line = dict(part.split("=", 1) for part in tree.splitlines() if "=" in part)
        for feature, threshold in zip(line.get("split_feature", "").split(), line.get("threshold", "").split()):
            edges[int(feature)].append(float(threshold))
    rows = features[rng.integers(0, len(features), ROWS)].copy()
    for row in rows:
        for feature in range(len(row)):
            choice = rng.random()
            if choice < 0.25:
                row[feature] = SPECIAL[rng.integers(len(SPECIAL))]
            elif choice < 0.75 and edges[feature]:
                edge = edges[feature][rng.integers(len(edges[feature]))]
                single = np.float32(np.clip(edge, -3e38, 3e38))
                row[feature] = [edge, np.nextafter(edge, np.inf), np.nextafter(edge, -np.inf), float(single),
                                float(np.nextafter(single, np.float32(np.inf)))][rng.integers(5)]
            elif choice < 0.8:
                row[feature] = [-7.0, 1000.0, 3.7, 70.0, 71.0, 2147483647.0, 2147483648.0, -2147483649.0, 1e19][rng.integers(9)]
    return rows


def write(name, params, data, rounds, categorical="auto", weight=None, target=None):
    rng = np.random.default_rng(11)
    features, plain_target = data
    label = plain_target if target is None else target(plain_target, rng)
    # thresholds between training values are means of two: the same in every build
    train = lightgbm.Dataset(features, label, categorical_feature=categorical, weight=weight, params={**COMMON, **params})
    booster = lightgbm.train({**COMMON, **params}, train, rounds)
    text = booster.model_to_string()
    rows = awkward(rng, text, features)
    raw = booster.predict(rows, raw_score=True)
    if re.search("^average_output$", text, re.MULTILINE):
        raw = raw / booster.num_trees()  # raw_score leaves this step out, the prediction itself does not
    # importances and parameters are not read, and the parameters alone are half of a small file
    text = text[:text.index("end of trees")] + "end of trees\n\npandas_categorical:null\n"
    text = re.sub(r"^(split_gain|leaf_weight|leaf_count|internal_value|internal_weight|internal_count)=.*\n", "", text, flags=re.MULTILINE)
    # the trees have become shorter, so their sizes are no longer right: all are still counted
    (HERE / f"{name}.txt").write_text(text)
    body = struct.pack("<II", *rows.shape) + rows.astype("<f8").tobytes() + raw.astype("<f8").tobytes()
    (HERE / f"{name}.bin").write_bytes(body)
    print(f"{name}: {booster.num_trees()} trees, {len(text)} bytes")


def main():
    rng = np.random.default_rng(3)
    plain = numbers(rng, 2000)
    codes = categories(rng, 3000)
    wide = numbers(rng, 6000)
    leaves = {"num_leaves": 15, "min_data_in_leaf": 5}
    positive = lambda target, _: np.exp(target / 3)
    above = lambda target, _: (target > np.median(target)).astype(float)
    write("regression", {"objective": "regression", **leaves}, plain, 12)
    write("binary", {"objective": "binary", "num_leaves": 31}, plain, 12, target=above)
    write("poisson", {"objective": "poisson", **leaves}, plain, 6, target=positive)
    write("quantile", {"objective": "quantile", "alpha": 0.9, **leaves}, plain, 6)
    write("zero_as_missing", {"objective": "regression", "zero_as_missing": True, **leaves}, plain, 12)
    write("no_missing", {"objective": "regression", "use_missing": False, **leaves}, plain, 12)
    write("categorical", {"objective": "regression", "min_data_per_group": 5, "cat_smooth": 1, "cat_l2": 1, **leaves}, codes, 12, categorical=[0, 1])
    write("one_hot", {"objective": "binary", "max_cat_to_onehot": 100, **leaves}, codes, 8, categorical=[0, 1], target=above)
    write("many_bins", {"objective": "regression", "max_bin": 4095, "min_data_in_bin": 1, "num_leaves": 255, "min_data_in_leaf": 1}, wide, 8)
    write("constant", {"objective": "regression", **leaves}, (plain[0], np.full(2000, 2.5)), 3)
    write("forest", {"boosting": "rf", "objective": "regression", "bagging_freq": 1, "bagging_fraction": 0.6, "feature_fraction": 0.8, **leaves}, plain, 10)
    write("dart", {"boosting": "dart", "objective": "binary", "drop_rate": 0.4, **leaves}, plain, 15, target=above)


if __name__ == "__main__":
    main()

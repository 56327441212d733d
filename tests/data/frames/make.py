"""One entity frame as other programs write it, for `pipelines/src/training_set/tests.rs`.

Needs pyarrow and polars. Run it in this folder; it writes everything anew.
"""

import datetime

import polars
import pyarrow
import pyarrow.feather
import pyarrow.ipc

UTC = datetime.timezone.utc
TIMES = [
    datetime.datetime(1997, 10, 1, tzinfo=UTC),
    datetime.datetime(1997, 4, 15, 12, 30, tzinfo=UTC),
    datetime.datetime(1998, 1, 1, tzinfo=UTC),
]
ROWS = pyarrow.table(
    {
        "customer_id": pyarrow.array([1, 4711, 23570], pyarrow.int32()),
        "as_of": pyarrow.array(TIMES, pyarrow.timestamp("us", "UTC")),
        "amount_cents": pyarrow.array([1500, 10, 99], pyarrow.int32()),
        "cds": pyarrow.array([1, 2, 3], pyarrow.int16()),
        "label": ["yes", None, "no"],
    }
)

# Feather as pandas and pyarrow write it: compressed by LZ4, here with texts in a dictionary and in two batches.
coded = ROWS.set_column(4, "label", ROWS["label"].dictionary_encode())
pyarrow.feather.write_feather(coded, "pyarrow.feather", chunksize=2)

with pyarrow.ipc.new_stream("pyarrow.arrows", ROWS.schema) as stream:
    stream.write_table(ROWS, max_chunksize=2)

# Polars keeps texts as views.
polars.from_arrow(ROWS).write_ipc("polars.arrow", compression="zstd", compat_level=polars.CompatLevel.newest())

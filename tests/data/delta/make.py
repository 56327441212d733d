"""Makes the Delta tables of this folder, with delta-rs (deltalake 1.6) where it can: it neither deletes by vectors nor maps
columns, so that the logs of those tables are written here, by the protocol's text. Needs deltalake, polars,
pyarrow, pyroaring. What delta-rs reads of the tables stands beside them in CSV; it does not read mapped columns.

    python make.py            in an empty copy of this folder
"""

import datetime as dt
import json
import os
import string
import struct
import uuid
import zlib
from decimal import Decimal

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
from deltalake import DeltaTable, write_deltalake
from pyroaring import BitMap64

UTC = dt.timezone.utc


def at(day, hour=0):
    return dt.datetime(2026, 1, day, hour, tzinfo=UTC)


def events():
    """Four versions of a table with partitions: rows added, a column added, a checkpoint, rows deleted, a row added."""
    first = pa.table({
        "id": pa.array([1, 1, 2, 3], pa.int64()),
        "at": pa.array([at(1), at(2, 5), at(2), at(3)], pa.timestamp("us", "UTC")),
        "amount": pa.array([Decimal("1.50"), Decimal("2.25"), None, Decimal("8.00")], pa.decimal128(10, 2)),
        "city": pa.array(["Zürich/5 =%", "Basel", None, "Basel"]),
        "day": pa.array([d.date() for d in (at(1), at(2), at(2), at(3))], pa.date32()),
    })
    write_deltalake("events", first, partition_by=["city", "day"])
    second = pa.table({
        "id": pa.array([1, 4], pa.int64()),
        "at": pa.array([at(4), at(4)], pa.timestamp("us", "UTC")),
        "amount": pa.array([Decimal("16.00"), Decimal("32.00")], pa.decimal128(10, 2)),
        "city": pa.array(["Basel", "Genève"]),
        "day": pa.array([at(4).date()] * 2, pa.date32()),
        "channel": pa.array(["web", "shop"]),
    })
    write_deltalake("events", second, mode="append", schema_mode="merge")
    table = DeltaTable("events")
    table.create_checkpoint()
    table.delete("id = 3")
    late = second.slice(1).set_column(1, "at", pa.array([at(9)], pa.timestamp("us", "UTC")))
    write_deltalake("events", late, mode="append")


def file_of(table, name, rows, row_group_size=None):
    path = os.path.join(table, name)
    pq.write_table(rows, path, row_group_size=row_group_size)
    return {"path": name, "partitionValues": {}, "size": os.path.getsize(path), "modificationTime": 1767225600000,
            "dataChange": True, "stats": json.dumps({"numRecords": rows.num_rows})}


def commit(table, version, actions):
    log = os.path.join(table, "_delta_log")
    os.makedirs(log, exist_ok=True)
    with open(os.path.join(log, f"{version:020}.json"), "w", encoding="utf-8") as file:
        for action in actions:
            file.write(json.dumps(action) + "\n")


def metadata(fields, properties):
    schema = {"type": "struct", "fields": fields}
    return {"metaData": {"id": str(uuid.uuid5(uuid.NAMESPACE_URL, json.dumps(fields))), "format": {"provider": "parquet", "options": {}},
                         "schemaString": json.dumps(schema), "partitionColumns": [], "configuration": properties,
                         "createdTime": 1767225600000}}


def field(name, type_, **metadata_):
    return {"name": name, "type": type_, "nullable": True, "metadata": metadata_}


def z85(data):
    digits = string.digits + string.ascii_lowercase + string.ascii_uppercase + ".-:+=^!/*?&<>()[]{}@%$#"
    words = [int.from_bytes(data[i:i + 4], "big") for i in range(0, len(data), 4)]
    return "".join(digits[word // 85 ** power % 85] for word in words for power in (4, 3, 2, 1, 0))


def bitmap(rows):
    return struct.pack("<I", 1681511377) + BitMap64(rows).serialize()


def deleted():
    """Two files with deletion vectors, one inside the log and one in a file of its own; and one whose rows are all there."""
    os.makedirs("deleted/_delta_log")

    def rows(start, count):
        ids = list(range(start, start + count))
        return pa.table({
            "id": pa.array([i % 5 for i in ids], pa.int64()),
            "at": pa.array([at(1) + dt.timedelta(minutes=i) for i in ids], pa.timestamp("us", "UTC")),
            "v": pa.array([2 ** (i % 40) for i in ids], pa.int64()),
        })

    inside = file_of("deleted", "inside.parquet", rows(0, 100), row_group_size=30)
    data = bitmap([0, 1, 29, 30, 59, 99] + list(range(60, 90)))
    padded = data + b"\0" * (-len(data) % 4)
    inside["deletionVector"] = {"storageType": "i", "pathOrInlineDv": z85(padded), "sizeInBytes": len(data),
                                "cardinality": 36}
    beside = file_of("deleted", "beside.parquet", rows(100, 50))
    name = uuid.UUID("b2e8ac2c-7a6f-4a3a-9d4f-0d9b5cf0a1e7")
    data = bitmap(range(0, 50, 2))
    with open(f"deleted/deletion_vector_{name}.bin", "wb") as file:
        file.write(b"\1" + struct.pack(">I", len(data)) + data + struct.pack(">I", zlib.crc32(data)))
    beside["deletionVector"] = {"storageType": "u", "pathOrInlineDv": z85(name.bytes), "offset": 1,
                                "sizeInBytes": len(data), "cardinality": 25}
    whole = file_of("deleted", "whole.parquet", rows(150, 10))
    fields = [field("id", "long"), field("at", "timestamp"), field("v", "long")]
    protocol = {"protocol": {"minReaderVersion": 3, "minWriterVersion": 7, "readerFeatures": ["deletionVectors"],
                             "writerFeatures": ["deletionVectors"]}}
    commit("deleted", 0, [protocol, metadata(fields, {"delta.enableDeletionVectors": "true"}),
                          {"add": inside}, {"add": beside}, {"add": whole}])


def mapped():
    """Columns whose names were changed: `v` was `w` once and the other way round."""
    os.makedirs("mapped/_delta_log")
    rows = pa.table({
        "col-1": pa.array([1, 1, 2], pa.int64()),
        "col-2": pa.array([at(1), at(2), at(3)], pa.timestamp("us", "UTC")),
        "v": pa.array([10, 20, 30], pa.int64()),
        "w": pa.array([1, 2, 3], pa.int64()),
    })

    def named(name, type_, physical, number):
        return field(name, type_, **{"delta.columnMapping.id": number, "delta.columnMapping.physicalName": physical})

    pair = {"type": "struct", "fields": [named("a", "long", "col-6", 6)]}
    fields = [named("id", "long", "col-1", 1), named("at", "timestamp", "col-2", 2), named("v", "long", "w", 3),
              named("w", "long", "v", 4), named("pair", pair, "col-5", 5), named("new", "string", "col-7", 7)]
    protocol = {"protocol": {"minReaderVersion": 2, "minWriterVersion": 5}}
    properties = {"delta.columnMapping.mode": "name", "delta.columnMapping.maxColumnId": "7"}
    commit("mapped", 0, [protocol, metadata(fields, properties), {"add": file_of("mapped", "part-0.parquet", rows)}])


events()
deleted()
mapped()
for name in ("events", "deleted"):
    pl.read_delta(name).sort("at", "id").write_csv(f"{name}.csv", datetime_format="%Y-%m-%dT%H:%M:%SZ")

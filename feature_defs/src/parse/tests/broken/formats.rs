//! Where files are, and what they are.

use super::Case;
use super::Edit::Shop;

const PATH: &str = "data/profiles.csv";

pub(super) const CASES: &[Case] = &[
    (
        "absolute_path",
        &[Shop(PATH, "/srv/shop/data/profiles.csv")],
    ),
    ("path_of_a_home", &[Shop(PATH, "~/profiles.csv")]),
    ("path_of_a_drive", &[Shop(PATH, "C:/data/profiles.csv")]),
    ("path_upwards", &[Shop(PATH, "../data/profiles.csv")]),
    (
        "path_upwards_inside",
        &[Shop(PATH, "data/../../profiles.csv")],
    ),
    ("path_with_backslashes", &[Shop(PATH, "data\\profiles.csv")]),
    (
        "path_of_object_storage",
        &[Shop(PATH, "s3://bucket/profiles.csv")],
    ),
    ("path_is_empty", &[Shop(PATH, "\"\"")]),
    ("packed_csv", &[Shop(PATH, "data/profiles.csv.gz")]),
    (
        "packed_csv_with_its_format",
        &[Shop(PATH, "data/profiles.csv.gz\n    format: csv")],
    ),
    ("spreadsheet", &[Shop(PATH, "data/profiles.xlsx")]),
    ("json_of_no_kind", &[Shop(PATH, "data/profiles.json")]),
    ("avro", &[Shop(PATH, "data/profiles.avro")]),
    ("folder", &[Shop(PATH, "data/profiles")]),
    ("folder_with_a_slash", &[Shop(PATH, "data/profiles/")]),
    ("glob_without_an_ending", &[Shop(PATH, "data/profiles/*")]),
    ("unknown_ending", &[Shop(PATH, "data/profiles.tsv")]),
    (
        "unknown_format",
        &[Shop(PATH, "data/profiles.csv\n    format: cvs")],
    ),
    (
        "delimiter_of_parquet",
        &[Shop(PATH, "data/profiles.parquet\n    delimiter: \";\"")],
    ),
    (
        "delimiter_of_two_characters",
        &[Shop(PATH, "data/profiles.csv\n    delimiter: \"||\"")],
    ),
    (
        "delimiter_of_json_lines",
        &[Shop(PATH, "data/profiles.jsonl\n    delimiter: \";\"")],
    ),
    (
        "partition_that_is_no_column",
        &[Shop(
            PATH,
            "data/year=*/profiles.csv\n    partitions: [citty]",
        )],
    ),
    (
        "partition_twice",
        &[Shop(
            PATH,
            "data/city=*/profiles.csv\n    partitions: [city, city]",
        )],
    ),
    (
        "partition_that_no_folder_holds",
        &[Shop(
            PATH,
            "data/region=eu/profiles.csv\n    partitions: [city]",
        )],
    ),
    (
        "partition_beside_the_files",
        &[Shop(PATH, "profiles-*.csv\n    partitions: [city]")],
    ),
    (
        "partitions_of_nothing",
        &[Shop(PATH, "data/*/profiles.csv\n    partitions: []")],
    ),
    (
        "partitions_are_a_text",
        &[Shop(PATH, "data/*/profiles.csv\n    partitions: city")],
    ),
    (
        "absolute_sql_file",
        &[Shop("value.sql", "/srv/shop/value.sql")],
    ),
    ("sql_file_upwards", &[Shop("value.sql", "../value.sql")]),
    (
        "delta_table_by_a_glob",
        &[Shop(PATH, "data/profiles/*.parquet\n    format: delta")],
    ),
    (
        "delta_table_by_its_log",
        &[Shop(
            PATH,
            "data/profiles/_delta_log/*.json\n    format: delta",
        )],
    ),
    (
        "delta_table_with_partitions",
        &[Shop(
            PATH,
            "data/profiles\n    format: delta\n    partitions: [city]",
        )],
    ),
    (
        "delta_table_with_a_delimiter",
        &[Shop(
            PATH,
            "data/profiles\n    format: delta\n    delimiter: \";\"",
        )],
    ),
];

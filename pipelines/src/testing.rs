//! Small projects made by hand, for tests.

use std::path::Path;
use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch};
use feature_defs::about::About;
use feature_defs::aggregation::{
    Aggregate, AggregateFunction, Filter, Window, buckets_type, output_type,
};
use feature_defs::data_type::DataType;
use feature_defs::definitions::Definitions;
use feature_defs::entity::{Entity, KeyPart};
use feature_defs::feature_view::{Computation, Feature, FeatureView, Latest, SqlSnapshot, Windows};
use feature_defs::fingerprint::Fingerprint;
use feature_defs::name::Name;
use feature_defs::project::{Location, Places, Project};
use feature_defs::source::{Column, Source, SourceFiles, SourceFormat, SourcePlace};
use feature_defs::time::{Instant, TimeSpan, Ttl};
use futures::TryStreamExt;
use indexmap::IndexMap;

use crate::error::Result;
use crate::session::{Session, SessionSettings};
use crate::snapshot;

pub(crate) fn name(text: &str) -> Name {
    Name::parse(text).expect("name")
}

pub(crate) fn at(text: &str) -> Instant {
    Instant::parse(text).expect("instant")
}

/// A session with this many partitions.
pub(crate) fn session(threads: usize) -> Session {
    session_with(threads, 256 << 20)
}

pub(crate) fn session_with(threads: usize, memory_limit: usize) -> Session {
    let settings = SessionSettings {
        threads: threads.try_into().expect("threads"),
        memory_limit,
        spill_dir: None,
    };
    Session::new(&settings).expect("session")
}

/// A project without objects at `root`.
pub(crate) fn definitions(root: &Path) -> Definitions {
    Definitions {
        project: Project {
            name: name("test"),
            renamed_from: None,
            root: root.to_owned(),
            timezone: chrono_tz::UTC,
            places: Places {
                registry: Location::Sqlite(root.join("registry.db")),
                offline: Location::Local(root.join("offline")),
                online: Location::Embedded(root.join("online")),
            },
            databases: IndexMap::new(),
            roots: IndexMap::new(),
            environment: None,
            environments: IndexMap::new(),
        },
        entities: IndexMap::new(),
        sources: IndexMap::new(),
        views: IndexMap::new(),
        request_views: IndexMap::new(),
        services: IndexMap::new(),
        models: IndexMap::new(),
        fingerprint: Fingerprint::of(["test"]),
        files: Vec::new(),
    }
}

pub(crate) fn add_entity(definitions: &mut Definitions, entity: &str, keys: &[(&str, DataType)]) {
    let keys = keys
        .iter()
        .map(|(part, data_type)| KeyPart {
            name: name(part),
            data_type: *data_type,
        })
        .collect();
    let entity = Entity {
        name: name(entity),
        about: About::default(),
        keys,
    };
    definitions.entities.insert(entity.name.clone(), entity);
}

pub(crate) fn add_source(
    definitions: &mut Definitions,
    source: &str,
    path: &str,
    columns: &[(&str, DataType)],
    event_time: &str,
    created_time: Option<&str>,
) {
    let columns = columns
        .iter()
        .map(|(column, data_type)| {
            (
                (*column).to_owned(),
                Column {
                    data_type: *data_type,
                },
            )
        })
        .collect();
    let source = Source {
        name: name(source),
        about: About::default(),
        place: SourcePlace::Files(SourceFiles {
            root: None,
            path: path.to_owned(),
            format: if path.ends_with(".csv") {
                SourceFormat::Csv { delimiter: b',' }
            } else if path.ends_with(".jsonl") {
                SourceFormat::JsonLines
            } else {
                SourceFormat::Parquet
            },
            partitions: Vec::new(),
        }),
        columns,
        event_time: event_time.to_owned(),
        created_time: created_time.map(str::to_owned),
        timezone: chrono_tz::UTC,
        retention: None,
        fingerprint: Fingerprint::of([source, path]),
    };
    definitions.sources.insert(source.name.clone(), source);
}

/// The files of a source that has some.
pub(crate) fn files_of(source: &mut Source) -> &mut SourceFiles {
    match &mut source.place {
        SourcePlace::Files(files) => files,
        SourcePlace::Table(table) => panic!("{table}"),
    }
}

/// Adds a view; its key columns are named as the entity's parts.
pub(crate) fn add_view(
    definitions: &mut Definitions,
    view: &str,
    entity: &str,
    ttl: Ttl,
    computation: Computation,
    features: &[(String, DataType)],
) {
    let features = features
        .iter()
        .map(|(feature, data_type)| Feature {
            name: name(feature),
            data_type: *data_type,
            nullable: true,
            description: None,
            fingerprint: Fingerprint::of([""]),
        })
        .collect();
    let view = FeatureView {
        name: name(view),
        about: About::default(),
        entity: name(entity),
        ttl,
        schedule: None,
        checks: Vec::new(),
        computation,
        features,
        fingerprint: Fingerprint::of([view]),
    };
    definitions.views.insert(view.name.clone(), view);
}

fn key_columns(definitions: &Definitions, entity: &str) -> Vec<String> {
    definitions.entities[&name(entity)]
        .keys
        .iter()
        .map(|part| part.name.to_string())
        .collect()
}

pub(crate) fn window(text: &str) -> Window {
    match text {
        "lifetime" => Window::Lifetime,
        span => Window::Last(TimeSpan::parse(span).expect("span")),
    }
}

/// An aggregate: its name, its function, and its column.
pub(crate) type AggregateSpec<'a> = (&'a str, AggregateFunction, Option<&'a str>);

/// Adds a windowed view, with features named and typed as definitions do.
pub(crate) fn add_windows(
    definitions: &mut Definitions,
    view: &str,
    entity: &str,
    source: &str,
    aggregates: &[AggregateSpec<'_>],
    windows: &[&str],
) {
    let columns = definitions.sources[&name(source)].columns.clone();
    let mut features = Vec::new();
    for (aggregate, function, column) in aggregates {
        let argument = column.map(|column| columns[column].data_type);
        for window in windows {
            features.push((
                format!("{aggregate}_{window}"),
                output_type(*function, argument).expect("type"),
            ));
        }
    }
    let computation = Computation::Windows(Windows {
        sources: vec![name(source)],
        key_columns: vec![key_columns(definitions, entity)],
        aggregates: aggregates
            .iter()
            .map(|(aggregate, function, column)| Aggregate {
                name: name(aggregate),
                function: *function,
                source: Some(name(source)),
                column: column.map(str::to_owned),
                by: None,
                filter: None,
            })
            .collect(),
        windows: windows.iter().map(|text| window(text)).collect(),
    });
    add_view(
        definitions,
        view,
        entity,
        Ttl::Unlimited,
        computation,
        &features,
    );
}

/// A filter in its canonical form; its columns are in the source's declared order.
pub(crate) fn filter(condition: &str, columns: &[&str]) -> Filter {
    Filter {
        condition: condition.to_owned(),
        canonical: condition.to_owned(),
        columns: columns.iter().map(|&column| column.to_owned()).collect(),
    }
}

/// Gives all aggregates of a view the same filter.
pub(crate) fn add_filter(definitions: &mut Definitions, view: &str, filter: &Filter) {
    let view = definitions.views.get_mut(&name(view)).expect("the view");
    let Computation::Windows(windows) = &mut view.computation else {
        panic!("{view:?}");
    };
    for aggregate in &mut windows.aggregates {
        aggregate.filter = Some(filter.clone());
    }
}

/// Computes all aggregates of a view apart for the values of a column of the only source.
pub(crate) fn tell_apart(definitions: &mut Definitions, view: &str, by: &str) {
    let view = definitions.views.get_mut(&name(view)).expect("the view");
    let Computation::Windows(windows) = &mut view.computation else {
        panic!("{view:?}");
    };
    let data_type = definitions.sources[&windows.sources[0]].columns[by].data_type;
    for aggregate in &mut windows.aggregates {
        aggregate.by = Some(by.to_owned());
    }
    for feature in &mut view.features {
        feature.data_type = buckets_type((by, data_type), feature.data_type).expect("a type");
    }
}

pub(crate) fn add_latest(
    definitions: &mut Definitions,
    view: &str,
    entity: &str,
    source: &str,
    ttl: Ttl,
    columns: &[&str],
) {
    let source = &definitions.sources[&name(source)];
    let features: Vec<_> = columns
        .iter()
        .map(|c| ((*c).to_owned(), source.columns[*c].data_type))
        .collect();
    let computation = Computation::Latest(Latest {
        source: source.name.clone(),
        key_columns: key_columns(definitions, entity),
        columns: columns.iter().map(|c| (*c).to_owned()).collect(),
    });
    add_view(definitions, view, entity, ttl, computation, &features);
}

pub(crate) fn add_sql(
    definitions: &mut Definitions,
    view: &str,
    entity: &str,
    sources: &[&str],
    text: &str,
    features: &[(&str, DataType)],
) {
    let read = sources.iter().map(|read| name(read));
    let (sources, views) = read.partition(|read| definitions.sources.contains_key(read));
    let computation = Computation::Sql(SqlSnapshot {
        text: text.to_owned(),
        file: format!("{view}.sql"),
        sources,
        views,
    });
    let features: Vec<_> = features
        .iter()
        .map(|(f, t)| ((*f).to_owned(), *t))
        .collect();
    add_view(
        definitions,
        view,
        entity,
        Ttl::Unlimited,
        computation,
        &features,
    );
}

pub(crate) fn write_parquet(path: &Path, columns: Vec<(&str, ArrayRef)>) {
    let batch =
        RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(n, c)| (n, c, true)))
            .expect("batch");
    std::fs::create_dir_all(path.parent().expect("folder")).expect("folder");
    let file = std::fs::File::create(path).expect("file");
    let mut writer =
        parquet::arrow::ArrowWriter::try_new(file, batch.schema(), None).expect("writer");
    writer.write(&batch).expect("rows");
    writer.close().expect("footer");
}

/// All rows of a view's snapshot, in one batch.
pub(crate) async fn rows(
    session: &Session,
    definitions: &Definitions,
    view: &str,
    as_of: &str,
) -> Result<RecordBatch> {
    let view = &definitions.views[&name(view)];
    let snapshot = snapshot::compute(session, definitions, view, at(as_of)).await?;
    let batches: Vec<RecordBatch> = snapshot.batches.try_collect().await?;
    Ok(arrow::compute::concat_batches(&snapshot.schema, &batches).expect("one schema"))
}

/// The CDNOW purchases of the example project, with a customer entity.
pub(crate) fn cdnow() -> Definitions {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../feature_defs/examples/cdnow");
    let mut definitions = definitions(&root);
    add_entity(
        &mut definitions,
        "customer",
        &[("customer_id", DataType::Int64)],
    );
    add_source(
        &mut definitions,
        "purchases",
        "data/purchases.parquet",
        &[
            ("customer_id", DataType::Int64),
            ("purchase_date", DataType::Date),
            ("cds", DataType::Int32),
            ("amount_cents", DataType::Int64),
        ],
        "purchase_date",
        None,
    );
    definitions
}

/// A row a string.
pub(crate) fn shown(batch: &RecordBatch) -> Vec<String> {
    let rows = shown_cells(batch).into_iter();
    rows.map(|row| row.join(" ")).collect()
}

/// Shown cell by cell.
pub(crate) fn shown_cells(batch: &RecordBatch) -> Vec<Vec<String>> {
    let show = |column: &ArrayRef, row| {
        let text = arrow::util::display::array_value_to_string(column, row).expect("text");
        if arrow::array::Array::is_null(column.as_ref(), row) {
            "null".to_owned()
        } else {
            text
        }
    };
    (0..batch.num_rows())
        .map(|row| batch.columns().iter().map(|c| show(c, row)).collect())
        .collect()
}

/// A column of instants, written as texts.
pub(crate) fn times(texts: &[&str]) -> ArrayRef {
    let micros: Vec<i64> = texts.iter().map(|text| at(text).micros()).collect();
    Arc::new(arrow::array::TimestampMicrosecondArray::from(micros).with_timezone("UTC"))
}

//! Training sets: the rows of an entity frame, with the features of a service as they were known at each row's as-of.

mod format;
mod frame;
mod manifest;
mod request_features;
mod target;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, RecordBatch};
use arrow::datatypes::{Field, Schema};
use feature_defs::definitions::Definitions;
use feature_defs::feature_service::{FeatureService, Origin};
use feature_defs::fingerprint::Fingerprint;
use feature_defs::name::{FeatureRef, Name};
use feature_defs::time::{Instant, Stopwatch};
use feature_defs::value::Value;

use crate::error::{Error, Result};
use crate::point_in_time::{Answers, Questions, answer};
use crate::progress::{Event, Progress};
use crate::session::Session;
use crate::sources::{OpenSources, SourceState};

use frame::Frame;
pub use manifest::{BuiltWith, ColumnSummary, HashedFile, Manifest};
pub use request_features::Unavailable;
use target::Target;

/// The frame's column with each row's as-of, unless a request names another.
pub const AS_OF: &str = "as_of";

/// What a training set is asked for.
#[derive(Debug, Clone)]
pub struct TrainingSetRequest {
    /// The feature service whose features are joined.
    pub service: Name,
    /// The entity frame, Parquet, CSV or Arrow's IPC format (by its name's ending): a column for each key part by its name, as-of (a
    /// timestamp, or a date, which is midnight; without a zone they are meant in the project's), the request fields, and whatever else it holds.
    pub entities: PathBuf,
    /// The frame's column with each row's as-of.
    pub as_of: String,
    /// The version of the definitions, for the manifest.
    pub definitions_version: u64,
    /// The instant that it is: rows that look from a later one are refused.
    pub now: Instant,
    /// Where the training set is written, as Parquet or in Arrow's IPC format (by its name's ending); its manifest is
    /// written beside it.
    pub output: PathBuf,
}

/// What was written.
#[derive(Debug, Clone, serde::Serialize)]
pub struct TrainingSetReport {
    /// Rows, exactly those of the frame.
    pub rows: usize,
    /// Names of the feature columns, after the frame's own: `view.feature`.
    pub features: Vec<String>,
    /// The BLAKE3 hash of the file.
    pub content: Fingerprint,
    /// Where its [`Manifest`] is.
    pub manifest: PathBuf,
    /// Rows that have no value in a part of a key, so that nothing is known of them.
    pub null_keys: usize,
    /// Request-time features that have no value in some rows, which are null there.
    pub unavailable: Vec<Unavailable>,
    /// Seconds in all.
    pub seconds: f64,
}

/// Builds a training set and writes it. Rows, order and columns are the frame's (rule 7); feature columns follow, named
/// `view.feature`, in the order of the service.
///
/// # Errors
/// An output that is the frame itself, is named as no Parquet file is, or has no folder; those of the frame (with file and
/// column), of sources, and of computations.
pub async fn build(
    session: &Session,
    definitions: &Definitions,
    request: &TrainingSetRequest,
    progress: &dyn Progress,
) -> Result<TrainingSetReport> {
    let watch = Stopwatch::start();
    let service = definitions
        .service(request.service.as_str())
        .ok_or_else(|| {
            let known: Vec<&str> = definitions.service_names().map(Name::as_str).collect();
            Error::unknown("service", &request.service, &known)
        })?;
    let target = Target::new(&request.output, &request.entities)?;
    let frame = Frame::read(definitions, service, &request.entities, &request.as_of)?;
    frame.refuse_the_future(&request.as_of, request.now)?;
    let joined = join(session, definitions, service, &frame, progress).await?;
    let written = target.write(&joined.rows)?;
    let manifest = Manifest {
        format: Manifest::FORMAT,
        project: definitions.project.name.clone(),
        definitions: BuiltWith {
            version: request.definitions_version,
            fingerprint: definitions.fingerprint,
        },
        service: service.name.clone(),
        as_of_column: request.as_of.clone(),
        frame: manifest::hashed(&request.entities, joined.rows.num_rows())?,
        sources: joined.sources,
        columns: manifest::summaries(&joined.rows),
        built_at: request.now,
        output: written.clone(),
    };
    Ok(TrainingSetReport {
        rows: joined.rows.num_rows(),
        features: service.features.iter().map(|f| f.name.clone()).collect(),
        content: written.content,
        manifest: target.write_manifest(&manifest)?,
        null_keys: joined.null_keys,
        unavailable: joined.unavailable,
        seconds: watch.elapsed().as_secs_f64(),
    })
}

/// The frame with the service's features, and what its report tells.
struct Joined {
    rows: RecordBatch,
    sources: BTreeMap<Name, BTreeMap<String, SourceState>>,
    null_keys: usize,
    unavailable: Vec<Unavailable>,
}

async fn join(
    session: &Session,
    definitions: &Definitions,
    service: &FeatureService,
    frame: &Frame,
    progress: &dyn Progress,
) -> Result<Joined> {
    let request_views = request_features::plan(definitions, service, frame)?;
    let mut answers: BTreeMap<&Name, Answers> = BTreeMap::new();
    let reads = stored_features(definitions, service);
    let views: Vec<&Name> = reads.keys().copied().collect();
    progress.event(Event::Planned { views: views.len() });
    let until = frame.latest_as_of();
    let sources = OpenSources::of_views(session, definitions, views, until, progress);
    let sources = Arc::new(sources.await?);
    let session = &session.reading(Arc::clone(&sources));
    let mut null_keys = 0;
    for (name, wanted) in reads {
        let view = &definitions.views[name];
        let keys = frame.keys(definitions.entity_of(view))?;
        null_keys = null_keys.max(keys.null_count());
        let questions = Questions {
            keys: &keys,
            as_ofs: frame.as_ofs(),
        };
        let answered = answer(session, definitions, view, &questions, &wanted, progress)
            .await
            .map_err(|e| e.in_view(name, session))?;
        progress.event(Event::Joined { view: name });
        answers.insert(name, answered);
    }
    sources.check(definitions).await?;
    let stored = |feature: &FeatureRef, default: Option<&Value>| -> Result<ArrayRef> {
        let view = &definitions.views[&feature.view];
        let place = view.features.iter().position(|f| f.name == feature.feature);
        answers[&feature.view].column(place.unwrap_or_default(), default)
    };
    let requested = request_features::compute(&request_views, frame.batch().num_rows(), &stored)?;

    let mut fields = frame.batch().schema().fields().to_vec();
    let mut columns = frame.batch().columns().to_vec();
    for feature in &service.features {
        let column = match feature.origin {
            Origin::Stored => stored(&feature.reference, feature.default.as_ref())?,
            Origin::Request => Arc::clone(&requested.columns[&feature.reference]),
        };
        let name = feature.name.clone();
        fields.push(Arc::new(Field::new(name, column.data_type().clone(), true)));
        columns.push(column);
    }
    let options =
        arrow::array::RecordBatchOptions::new().with_row_count(Some(frame.batch().num_rows()));
    let rows = RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), columns, &options)
        .map_err(|e| Error::Refused(format!("the training set cannot be put together: {e}")))?;
    Ok(Joined {
        rows,
        sources: sources.states(),
        null_keys,
        unavailable: requested.unavailable,
    })
}

/// The features of feature views that a service reads, directly or through its request views: by view, their places
/// in it.
fn stored_features<'a>(
    definitions: &'a Definitions,
    service: &'a FeatureService,
) -> BTreeMap<&'a Name, Vec<usize>> {
    let mut read: Vec<&FeatureRef> = Vec::new();
    for feature in &service.features {
        match feature.origin {
            Origin::Stored => read.push(&feature.reference),
            Origin::Request => {
                let view = &definitions.request_views[&feature.reference.view];
                let of_view = view.features.iter();
                let of_view = of_view.filter(|f| f.name == feature.reference.feature);
                read.extend(of_view.flat_map(|f| &f.features));
            }
        }
    }
    let mut by_view: BTreeMap<&Name, Vec<usize>> = BTreeMap::new();
    for reference in read {
        let features = &definitions.views[&reference.view].features;
        let place = features.iter().position(|f| f.name == reference.feature);
        by_view.entry(&reference.view).or_default().extend(place);
    }
    for places in by_view.values_mut() {
        places.sort_unstable();
        places.dedup();
    }
    by_view
}

#[cfg(test)]
mod tests;

//! A project on disk, published without a night: definitions in a registry, rows in an embedded store, a bundle.

#![allow(dead_code)] // each test and benchmark uses its part

use std::sync::Arc;

use arrow::array::ArrayRef;
use feature_defs::data_type::DataType;
use feature_defs::definitions::{DefinitionFile, Definitions};
use feature_defs::entity::EntityKey;
use feature_defs::fingerprint::Fingerprint;
use feature_defs::name::Name;
use feature_defs::parse;
use feature_defs::time::{Clock, Instant};
use feature_defs::value::Value;
use scorer::bundle::Bundle;
use scorer::trees::Ensemble;
use serving::Components;
use store::config::EmbeddedSettings;
use store::online::embedded::EmbeddedStore;
use store::online::row::{RowEncoder, RowLayout};
use store::online::{Checksum, OnlineStore, StagedRow, Staging};
use store::registry::sql::SqlRegistry;
use store::registry::{NewBundle, NewDefinitions, Registry};
use store::release::{Release, ReleaseModel, ReleaseNumber, ReleaseView, SnapshotId};
use tempfile::TempDir;

const PROJECT: &str = "version: 1
project: shop
timezone: UTC
registry: sqlite://registry.db
offline: offline
online: embedded://online
";

/// A project with one entity, whose key is one int64, and one model.
pub(crate) struct Project {
    pub(crate) folder: TempDir,
    pub(crate) registry: Arc<SqlRegistry>,
    pub(crate) online: Arc<EmbeddedStore>,
    pub(crate) definitions: Definitions,
    pub(crate) version: u64,
    pub(crate) models: Vec<ReleaseModel>,
}

impl Project {
    /// Applies the definitions and imports `ensemble` for the model, if there is one.
    pub(crate) async fn new(yaml: &str, ensemble: Option<&Ensemble>) -> Self {
        let folder = tempfile::tempdir().expect("folder");
        let file = |path: &str, text: &str| DefinitionFile {
            path: path.to_owned(),
            text: text.to_owned(),
        };
        let files = vec![file("nightfill.yaml", PROJECT), file("shop.yaml", yaml)];
        let definitions = parse::parse(folder.path(), files).expect("definitions");
        let registry = SqlRegistry::sqlite(&folder.path().join("registry.db")).await;
        let registry = Arc::new(registry.expect("registry"));
        let settings = EmbeddedSettings {
            map_size: 1 << 30,
            ..EmbeddedSettings::default()
        };
        let online = EmbeddedStore::open(&folder.path().join("online"), settings);
        let applied = NewDefinitions {
            project: Some(definitions.project.name.clone()),
            fingerprint: definitions.fingerprint,
            files: definitions.files.clone(),
            applied_at: as_of(),
            applied_by: "a test".to_owned(),
        };
        let version = registry.apply(0, &applied, None).await.expect("applied");
        let mut models = Vec::new();
        for model in definitions.models.values() {
            let Some(ensemble) = ensemble else { continue };
            let service = &definitions.services[&model.service];
            let bundle = Bundle::build(model, service, ensemble).expect("bundle");
            let new = NewBundle {
                model: model.name.clone(),
                fingerprint: bundle.fingerprint(),
                bytes: bundle.to_bytes(),
                imported_at: as_of(),
            };
            registry.put_bundle(&new).await.expect("kept");
            models.push(ReleaseModel {
                model: model.name.clone(),
                bundle: bundle.fingerprint(),
            });
        }
        Self {
            folder,
            registry,
            online: Arc::new(online.expect("online store")),
            definitions,
            version,
            models,
        }
    }

    /// What a server over this project is made of.
    pub(crate) fn components(&self, clock: Arc<dyn Clock>) -> Components {
        Components {
            registry: self.registry.clone(),
            online: self.online.clone(),
            clock,
            root: self.folder.path().to_owned(),
        }
    }

    /// Stages and registers release `number` with customers 0 to `rows - 1`, and does not flip. `value` gives a feature of
    /// a view, by its position, of a customer.
    pub(crate) async fn register(
        &self,
        number: u64,
        rows: i64,
        value: impl Fn(&str, usize, i64) -> Value,
    ) -> Release {
        let mut views = Vec::new();
        let mut names: Vec<&Name> = self.definitions.views.keys().collect();
        names.sort();
        for view in names {
            let content = Fingerprint::of([view.as_str(), &number.to_string()]);
            let snapshot = self.stage(view, content, rows, &value).await;
            views.push(ReleaseView {
                view: view.clone(),
                fingerprint: self.definitions.views[view].fingerprint,
                as_of: as_of(),
                content,
                rows: rows.unsigned_abs(),
                snapshot,
            });
        }
        let release = Release {
            number: ReleaseNumber(number),
            as_of: as_of(),
            created_at: as_of(),
            definitions_version: self.version,
            definitions: self.definitions.fingerprint,
            views,
            models: self.models.clone(),
        };
        self.online.register(&release).await.expect("registered");
        release
    }

    async fn stage(
        &self,
        view: &Name,
        content: Fingerprint,
        rows: i64,
        value: &impl Fn(&str, usize, i64) -> Value,
    ) -> SnapshotId {
        let count = u64::try_from(rows).expect("rows");
        let begun = self.online.begin(view, content, count).await;
        let Staging::Open(snapshot) = begun.expect("begun") else {
            panic!("a snapshot of this content is there");
        };
        let features = &self.definitions.views[view].features;
        let layout = RowLayout::new(features);
        let columns: Vec<ArrayRef> = features
            .iter()
            .enumerate()
            .map(|(position, feature)| {
                let values = (0..rows).map(|id| value(view.as_str(), position, id));
                let values: Vec<Value> = values.collect();
                Value::array(&values, feature.data_type)
            })
            .collect();
        let times = vec![Value::Timestamp(as_of()); usize::try_from(rows).expect("rows")];
        let times = Value::array(&times, DataType::Timestamp);
        let encoder = RowEncoder::new(&layout, &columns, &times).expect("columns");
        let mut packed: Vec<(EntityKey, Vec<u8>)> = Vec::new();
        for (row, id) in (0..rows).enumerate() {
            let mut key = EntityKey::new();
            key.push_int(id);
            let mut bytes = Vec::new();
            encoder.encode(row, &mut bytes).expect("row");
            packed.push((key, bytes));
        }
        let staged: Vec<StagedRow<'_>> = packed
            .iter()
            .map(|(key, row)| StagedRow {
                key: key.as_bytes(),
                row,
            })
            .collect();
        let mut checksum = Checksum::default();
        staged.iter().for_each(|row| checksum.add(*row));
        self.online.write(snapshot, &staged).await.expect("written");
        let complete = self.online.complete(snapshot, checksum).await;
        complete.expect("complete");
        snapshot
    }

    /// Serves a registered release from now on.
    pub(crate) async fn flip(&self, to: u64) {
        let from = self.online.served().await.expect("served");
        let flipped = self.online.flip(from, ReleaseNumber(to)).await;
        flipped.expect("flipped");
    }
}

/// The as-of of every release.
pub(crate) fn as_of() -> Instant {
    Instant::parse("1997-10-01").expect("date")
}

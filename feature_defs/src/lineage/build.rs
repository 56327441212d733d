//! Definitions to the graph.

use std::collections::{BTreeSet, HashMap};

use super::graph::{Edge, Kind, Lineage, LineageError, Node, NodeId, Role};
use super::query::{self, Decided, SourceColumn};
use crate::aggregation::{Aggregate, AggregateFunction};
use crate::definitions::Definitions;
use crate::feature_view::{Computation, FeatureView, Latest, SqlSnapshot, Windows};
use crate::source::Source;

impl Lineage {
    /// The lineage of checked definitions. It plans the text of each SQL view once.
    ///
    /// # Errors
    /// [`LineageError`] when a text does not plan, which checked definitions rule out.
    pub fn of(definitions: &Definitions) -> Result<Self, LineageError> {
        let mut builder = Builder::default();
        for entity in definitions.entities.keys() {
            builder.add(Kind::Entity, entity.as_str(), None);
        }
        for source in definitions.sources.values() {
            let id = builder.add(Kind::Source, source.name.as_str(), None);
            for column in source.columns.keys() {
                let name = format!("{}.{column}", source.name);
                builder.add(Kind::Column, &name, Some(id));
            }
        }
        for view in definitions.views.values() {
            builder.feature_view(definitions, view)?;
        }
        builder.request_views(definitions);
        for service in definitions.services.values() {
            let id = builder.add(Kind::FeatureService, service.name.as_str(), None);
            let aliases = service.aliases.iter();
            builder
                .also_named
                .extend(aliases.map(|alias| (alias.to_string(), id)));
            for feature in &service.features {
                let reference = feature.reference.to_string();
                let made_from = builder.feature(&reference);
                builder.edges.extend(made_from.map(|from| value(id, from)));
            }
        }
        for model in definitions.models.values() {
            let id = builder.add(Kind::Model, model.name.as_str(), None);
            let service = builder.find(Kind::FeatureService, model.service.as_str());
            builder.edges.extend(service.map(|from| value(id, from)));
        }
        Ok(builder.finish())
    }
}

fn value(to: NodeId, from: NodeId) -> Edge {
    Edge {
        to,
        role: Role::Value,
        from,
    }
}

#[derive(Default)]
struct Builder {
    nodes: Vec<Node>,
    places: HashMap<(Kind, String), NodeId>,
    edges: BTreeSet<Edge>,
    also_named: Vec<(String, NodeId)>,
}

impl Builder {
    fn add(&mut self, kind: Kind, name: &str, of: Option<NodeId>) -> NodeId {
        let id = NodeId(self.nodes.len());
        self.nodes.push(Node {
            kind,
            name: name.to_owned(),
            of,
        });
        self.places.insert((kind, name.to_owned()), id);
        id
    }

    fn find(&self, kind: Kind, name: &str) -> Option<NodeId> {
        self.places.get(&(kind, name.to_owned())).copied()
    }

    /// A feature of either kind of view: these never share a name.
    fn feature(&self, reference: &str) -> Option<NodeId> {
        let stored = self.find(Kind::Feature, reference);
        stored.or_else(|| self.find(Kind::RequestFeature, reference))
    }

    fn feature_view(
        &mut self,
        definitions: &Definitions,
        view: &FeatureView,
    ) -> Result<(), LineageError> {
        let decided = match &view.computation {
            Computation::Sql(sql) => of_sql(definitions, view, sql)?,
            Computation::Windows(windows) => of_windows(definitions, windows),
            Computation::Latest(latest) => of_latest(definitions, latest),
        };
        let sources = definitions.sources_of(view);
        let id = self.add(Kind::FeatureView, view.name.as_str(), None);
        let entity = self.find(Kind::Entity, view.entity.as_str());
        for (feature, decided) in view.features.iter().zip(decided) {
            let name = format!("{}.{}", view.name, feature.name);
            let to = self.add(Kind::Feature, &name, Some(id));
            let roles = [
                (Role::Value, decided.values),
                (Role::Rows, decided.rows),
                (Role::Ties, decided.ties),
            ];
            for (role, columns) in roles {
                let nodes = columns.iter().filter_map(|c| self.column(&sources, *c));
                let edges: Vec<Edge> = nodes.map(|from| Edge { to, role, from }).collect();
                self.edges.extend(edges);
            }
            self.edges.extend(entity.map(|from| Edge {
                to,
                role: Role::Key,
                from,
            }));
        }
        Ok(())
    }

    fn column(&self, sources: &[&Source], column: SourceColumn) -> Option<NodeId> {
        let source = sources.get(column.source)?;
        let (name, _) = source.columns.get_index(column.column)?;
        self.find(Kind::Column, &format!("{}.{name}", source.name))
    }

    fn request_views(&mut self, definitions: &Definitions) {
        for view in definitions.request_views.values() {
            for field in &view.inputs {
                let name = field.name.as_str();
                let known = self.find(Kind::RequestField, name);
                let id = known.unwrap_or_else(|| self.add(Kind::RequestField, name, None));
                self.also_named.push((format!("{}.{name}", view.name), id));
            }
        }
        for view in definitions.request_views.values() {
            let id = self.add(Kind::RequestView, view.name.as_str(), None);
            for feature in &view.features {
                let name = format!("{}.{}", view.name, feature.name);
                let to = self.add(Kind::RequestFeature, &name, Some(id));
                let fields = feature.fields.iter();
                let fields = fields.filter_map(|f| self.find(Kind::RequestField, f.as_str()));
                let stored = feature.features.iter();
                let stored = stored.filter_map(|f| self.find(Kind::Feature, &f.to_string()));
                let edges: Vec<Edge> = fields.chain(stored).map(|from| value(to, from)).collect();
                self.edges.extend(edges);
            }
        }
    }

    fn finish(self) -> Lineage {
        let mut lineage = Lineage {
            made_from: vec![Vec::new(); self.nodes.len()],
            used_by: vec![Vec::new(); self.nodes.len()],
            nodes: self.nodes,
            edges: self.edges.into_iter().collect(),
            also_named: self.also_named,
        };
        for edge in &lineage.edges {
            lineage.made_from[edge.to.0].push((edge.role, edge.from));
            lineage.used_by[edge.from.0].push((edge.role, edge.to));
        }
        lineage
            .used_by
            .iter_mut()
            .for_each(|users| users.sort_unstable());
        lineage
    }
}

/// What decides each feature of a SQL view, in the view's order.
fn of_sql(
    definitions: &Definitions,
    view: &FeatureView,
    sql: &SqlSnapshot,
) -> Result<Vec<Decided>, LineageError> {
    let sources = definitions.sources_of(view);
    let entity = definitions.entity_of(view);
    let keys: Vec<_> = entity.keys.iter().map(|part| &part.name).collect();
    let outputs = query::decided(&sql.text, &sources, &keys).map_err(|error| LineageError {
        view: view.name.clone(),
        message: error.0,
    })?;
    let mut outputs: HashMap<String, Decided> = outputs.into_iter().collect();
    let features = view.features.iter();
    let decided = features.map(|feature| outputs.remove(feature.name.as_str()));
    Ok(decided.map(Option::unwrap_or_default).collect())
}

/// What decides each feature of a view of windows: by aggregate, then window.
fn of_windows(definitions: &Definitions, windows: &Windows) -> Vec<Decided> {
    let source = &definitions.sources[&windows.source];
    let each = |aggregate: &Aggregate| {
        let rows = rows_by_time(source, &windows.key_columns);
        let newest = aggregate.function == AggregateFunction::Last;
        Decided {
            values: places(source, &aggregate.column),
            // The newest of rows of one time is found by their columns.
            ties: if newest {
                others(source, &rows)
            } else {
                BTreeSet::new()
            },
            rows,
        }
    };
    let aggregates = windows.aggregates.iter();
    aggregates
        .flat_map(|aggregate| windows.windows.iter().map(move |_| each(aggregate)))
        .collect()
}

/// What decides each feature of a view of latest rows.
fn of_latest(definitions: &Definitions, latest: &Latest) -> Vec<Decided> {
    let source = &definitions.sources[&latest.source];
    let columns = latest.columns.iter();
    columns
        .map(|column| {
            let rows = rows_by_time(source, &latest.key_columns);
            Decided {
                values: places(source, [column]),
                ties: others(source, &rows),
                rows,
            }
        })
        .collect()
}

/// The columns that say whose a row is and when it counts.
fn rows_by_time(source: &Source, key_columns: &[String]) -> BTreeSet<SourceColumn> {
    let times = [Some(&source.event_time), source.created_time.as_ref()];
    places(
        source,
        key_columns.iter().chain(times.into_iter().flatten()),
    )
}

fn others(source: &Source, rows: &BTreeSet<SourceColumn>) -> BTreeSet<SourceColumn> {
    let all = places(source, source.columns.keys());
    all.difference(rows).copied().collect()
}

fn places<'n>(
    source: &Source,
    names: impl IntoIterator<Item = &'n String>,
) -> BTreeSet<SourceColumn> {
    let names = names.into_iter();
    let places = names.filter_map(|name| source.columns.get_index_of(name.as_str()));
    places
        .map(|column| SourceColumn { source: 0, column })
        .collect()
}

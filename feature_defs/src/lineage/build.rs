//! Definitions to the graph.

use std::collections::{BTreeSet, HashMap};

use super::graph::{Edge, Kind, Lineage, LineageError, Node, NodeId, Role};
use super::input::{Input, InputColumn};
use super::query::{self, Decided, InputPlace};
use crate::aggregation::Aggregate;
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
            let id = builder.add(Kind::FeatureView, view.name.as_str(), None);
            for feature in &view.features {
                let name = format!("{}.{}", view.name, feature.name);
                builder.add(Kind::Feature, &name, Some(id));
            }
        }
        for view in definitions.with_read_views(definitions.views.keys()) {
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
    /// For each view that was worked through, what decides which rows it has.
    of_rows: HashMap<String, BTreeSet<NodeId>>,
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
        let inputs = inputs(definitions, view);
        let entity = self.find(Kind::Entity, view.entity.as_str());
        let mut of_rows = BTreeSet::new();
        for (feature, decided) in view.features.iter().zip(decided) {
            let name = format!("{}.{}", view.name, feature.name);
            let Some(to) = self.find(Kind::Feature, &name) else {
                continue;
            };
            // Between latest rows or events, ties decide values only.
            let ties = matches!(view.computation, Computation::Sql(_));
            let roles = [
                (Role::Value, decided.values, false),
                (Role::Rows, decided.rows, true),
                (Role::Rows, decided.filters, false),
                (Role::Ties, decided.ties, ties),
            ];
            for (role, columns, makes_rows) in roles {
                let nodes = columns.iter().flat_map(|c| self.nodes_of(&inputs, *c));
                let nodes: BTreeSet<NodeId> = nodes.collect();
                if makes_rows {
                    of_rows.extend(&nodes);
                }
                let edges = nodes.into_iter().map(|from| Edge { to, role, from });
                self.edges.extend(edges);
            }
            self.edges.extend(entity.map(|from| Edge {
                to,
                role: Role::Key,
                from,
            }));
        }
        self.of_rows.insert(view.name.to_string(), of_rows);
        Ok(())
    }

    /// The nodes that a column of an input stands for: one, or all that decide which rows a view has.
    fn nodes_of(&self, inputs: &[Input<'_>], place: InputPlace) -> BTreeSet<NodeId> {
        let input = inputs.get(place.input);
        let column = input.and_then(|input| Some((input.name, input.column(place.column)?)));
        let Some((input, column)) = column else {
            return BTreeSet::new();
        };
        match column {
            InputColumn::OfRows => self.of_rows.get(input).cloned().unwrap_or_default(),
            InputColumn::Named(name) => {
                let name = format!("{input}.{name}");
                let column = self.find(Kind::Column, &name);
                let feature = || self.find(Kind::Feature, &name);
                column.or_else(feature).into_iter().collect()
            }
        }
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

/// What a view reads: its sources, then other views.
fn inputs<'a>(definitions: &'a Definitions, view: &'a FeatureView) -> Vec<Input<'a>> {
    let sources = definitions.sources_of(view).into_iter();
    let views = definitions.views_of(view).into_iter();
    let views = views.map(|view| Input::view(view, definitions.entity_of(view)));
    sources.map(Input::source).chain(views).collect()
}

/// What decides each feature of a SQL view, in the view's order.
fn of_sql(
    definitions: &Definitions,
    view: &FeatureView,
    sql: &SqlSnapshot,
) -> Result<Vec<Decided>, LineageError> {
    let entity = definitions.entity_of(view);
    let keys: Vec<_> = entity.keys.iter().map(|part| &part.name).collect();
    let outputs =
        query::decided(&sql.text, &inputs(definitions, view), &keys).map_err(|error| {
            LineageError {
                view: view.name.clone(),
                message: error.0,
            }
        })?;
    let mut outputs: HashMap<String, Decided> = outputs.into_iter().collect();
    let features = view.features.iter();
    let decided = features.map(|feature| outputs.remove(feature.name.as_str()));
    Ok(decided.map(Option::unwrap_or_default).collect())
}

/// What decides each feature of a view of windows: by aggregate, then window.
fn of_windows(definitions: &Definitions, windows: &Windows) -> Vec<Decided> {
    let inputs = || {
        let sources = windows.sources.iter().zip(&windows.key_columns).enumerate();
        sources.map(|(input, (name, keys))| (input, &definitions.sources[name], keys))
    };
    let each = |aggregate: &Aggregate| {
        let mut decided = Decided::default();
        let ordered = aggregate.function.is_of_order();
        for (input, source, key_columns) in inputs() {
            // An event of any source makes a row.
            let rows = rows_by_time(input, source, key_columns);
            let is_its = aggregate
                .source
                .as_ref()
                .is_none_or(|of| *of == source.name);
            if is_its {
                let columns = aggregate.column.iter().chain(&aggregate.by);
                let columns = places(input, source, columns);
                decided.values.extend(columns);
            }
            let filter = aggregate.filter.as_ref().filter(|_| is_its);
            let filtered = filter.map(|filter| places(input, source, &filter.columns));
            decided.filters.extend(filtered.into_iter().flatten());
            // The newest or oldest of rows of one time is found by their columns.
            if is_its && ordered {
                decided.ties.extend(others(input, source, &rows));
            }
            decided.rows.extend(rows);
        }
        decided
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
            let rows = rows_by_time(0, source, &latest.key_columns);
            Decided {
                values: places(0, source, [column]),
                filters: BTreeSet::new(),
                ties: others(0, source, &rows),
                rows,
            }
        })
        .collect()
}

/// The columns that say whose a row is and when it counts.
fn rows_by_time(input: usize, source: &Source, key_columns: &[String]) -> BTreeSet<InputPlace> {
    let times = [Some(&source.event_time), source.created_time.as_ref()];
    places(
        input,
        source,
        key_columns.iter().chain(times.into_iter().flatten()),
    )
}

fn others(input: usize, source: &Source, rows: &BTreeSet<InputPlace>) -> BTreeSet<InputPlace> {
    let all = places(input, source, source.columns.keys());
    all.difference(rows).copied().collect()
}

fn places<'n>(
    input: usize,
    source: &Source,
    names: impl IntoIterator<Item = &'n String>,
) -> BTreeSet<InputPlace> {
    let names = names.into_iter();
    let places = names.filter_map(|name| source.columns.get_index_of(name.as_str()));
    places.map(|column| InputPlace { input, column }).collect()
}

//! One read for all rows of all entities, and what each row is worth at the request's instant.

use std::ops::Range;

use feature_defs::as_of::{row_visible, within_ttl};
use feature_defs::entity::EntityKey;
use feature_defs::time::Instant;
use store::online::row::RowView;
use store::online::{OnlineStore, RowAddress, RowState, Rows};
use store::release::Release;

use crate::error::{Error, ErrorKind, Result};
use crate::predict::body::Body;
use crate::predict::service_plan::{ServicePlan, ViewPlan};

/// The rows of one request. Its memory is used again by the next one.
#[derive(Debug, Default)]
pub(crate) struct Fetched {
    keys: EntityKey,
    key_places: Vec<Range<usize>>,
    rows: Rows,
}

/// The rows of one request, each judged at the request's instant.
#[derive(Debug)]
pub(crate) struct StoredRows<'a> {
    /// All entities of the first view, then of the second, ...
    rows: Vec<StoredRow<'a>>,
    entities: usize,
}

/// What a row is worth (rule 6). Whether a usable row holds a value or a null is known feature by feature.
#[derive(Debug, Clone, Copy)]
pub(crate) enum StoredRow<'a> {
    Usable(RowView<'a>),
    Missing,
    Expired { event_time: Instant },
    Unavailable,
}

impl Fetched {
    /// Reads the rows of `entities` entities, all views in one call, and judges them as of `as_of`.
    pub(crate) async fn fetch<'a>(
        &'a mut self,
        store: &dyn OnlineStore,
        release: &Release,
        plan: &'a ServicePlan,
        body: &Body,
        entities: usize,
        as_of: Instant,
    ) -> Result<StoredRows<'a>> {
        self.rows.clear();
        if !plan.views.is_empty() && entities > 0 {
            self.write_keys(plan, body, entities)?;
            self.read(store, release, plan, entities).await?;
        }
        let mut judged = Vec::with_capacity(self.rows.len());
        for index in 0..self.rows.len() {
            let view = &plan.views[index / entities];
            judged.push(judge(view, self.rows.get(index), as_of));
        }
        Ok(StoredRows {
            rows: judged,
            entities,
        })
    }

    async fn read(
        &mut self,
        store: &dyn OnlineStore,
        release: &Release,
        plan: &ServicePlan,
        entities: usize,
    ) -> Result<()> {
        let key_bytes = self.keys.as_bytes();
        let mut addresses = Vec::with_capacity(plan.views.len() * entities);
        for view in &plan.views {
            let first = view.entity * entities;
            for place in &self.key_places[first..first + entities] {
                addresses.push(RowAddress {
                    view: view.address,
                    key: &key_bytes[place.clone()],
                });
            }
        }
        let read = store.read(release, &addresses, &mut self.rows).await;
        read.map_err(|error| {
            let source = std::error::Error::source(&error);
            tracing::warn!(%error, ?source, "rows could not be read");
            Error::from_store(&error)
        })
    }

    fn write_keys(&mut self, plan: &ServicePlan, body: &Body, entities: usize) -> Result<()> {
        self.keys.clear();
        self.key_places.clear();
        for parts in &plan.entities {
            for entity in 0..entities {
                let start = self.keys.as_bytes().len();
                for part in parts {
                    let column = &plan.keys[*part];
                    let value = &body.keys[*part].values[entity];
                    let pushed = self.keys.push_value(value, column.data_type);
                    pushed.map_err(|error| {
                        let path = format!("$.entities.{}[{entity}]", column.name);
                        Error::new(ErrorKind::InvalidRequest, error.to_string()).at(path)
                    })?;
                }
                self.key_places.push(start..self.keys.as_bytes().len());
            }
        }
        Ok(())
    }
}

impl<'a> StoredRows<'a> {
    /// The row of an entity in a view, by the view's position in the plan.
    pub(crate) fn get(&self, view: usize, entity: usize) -> StoredRow<'a> {
        self.rows[view * self.entities + entity]
    }

    /// The rows of a view, by its position in the plan, one an entity.
    pub(crate) fn of_view(&self, view: usize) -> &[StoredRow<'a>] {
        &self.rows[view * self.entities..(view + 1) * self.entities]
    }

    /// How many entities were asked for.
    pub(crate) const fn entities(&self) -> usize {
        self.entities
    }
}

impl<'a> StoredRow<'a> {
    /// The row, if its values may be used.
    pub(crate) const fn usable(self) -> Option<RowView<'a>> {
        match self {
            Self::Usable(row) => Some(row),
            Self::Missing | Self::Expired { .. } | Self::Unavailable => None,
        }
    }

    pub(crate) const fn is_unavailable(self) -> bool {
        matches!(self, Self::Unavailable)
    }
}

/// Never says `Missing` of a row that is there and cannot be read.
fn judge<'a>(view: &'a ViewPlan, row: RowState<'a>, as_of: Instant) -> StoredRow<'a> {
    let bytes = match row {
        RowState::Found(bytes) => bytes,
        RowState::Missing => return StoredRow::Missing,
        RowState::Unavailable => return StoredRow::Unavailable,
    };
    let row = match RowView::new(&view.layout, bytes) {
        Ok(row) => row,
        Err(error) => {
            tracing::error!(view = %view.name, %error, "a row cannot be read");
            return StoredRow::Unavailable;
        }
    };
    let event_time = row.event_time();
    if !row_visible(event_time, as_of) {
        StoredRow::Missing
    } else if within_ttl(event_time, view.ttl, as_of) {
        StoredRow::Usable(row)
    } else {
        StoredRow::Expired { event_time }
    }
}

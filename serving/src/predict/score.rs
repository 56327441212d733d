//! From the matrix to scores. An entity with an input that the store did not answer, or that could not be computed, has
//! none: a default or a missing branch would score it as if nothing were wrong (rule 6).

use crate::predict::fetch::StoredRows;
use crate::predict::plan::ModelPlan;
use crate::predict::request_features::Computed;
use crate::predict::service_plan::ServicePlan;

/// Scores `entities` rows of `matrix` into `scores` and applies the model's transform.
pub(crate) fn score(model: &ModelPlan, matrix: &[f64], entities: usize, scores: &mut Vec<f64>) {
    scores.clear();
    scores.resize(entities, f64::NAN);
    model.scorer.score(matrix, scores);
    for score in scores {
        *score = model.transform.apply(*score);
    }
}

/// Whether the store answered for every row that the service reads for an entity, and every feature was computed.
pub(crate) fn scorable(
    service: &ServicePlan,
    stored: &StoredRows<'_>,
    computed: &Computed,
    entity: usize,
) -> bool {
    let answered = (0..service.views.len()).all(|view| !stored.get(view, entity).is_unavailable());
    answered && computed.failure(entity).is_none()
}

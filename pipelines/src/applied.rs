//! The definitions that count now.

use std::path::Path;

use feature_defs::definitions::Definitions;
use feature_defs::parse::parse;
use store::registry::Registry;

use crate::error::{Error, Result};

/// The newest applied definitions of a project whose root is `root`, with their version; none before the first apply.
pub(crate) async fn applied(
    registry: &dyn Registry,
    root: &Path,
) -> Result<Option<(Definitions, u64)>> {
    let Some(applied) = registry.definitions(None).await? else {
        return Ok(None);
    };
    let definitions = parse(root, applied.definitions.files)
        .map_err(|problems| Error::Refused(problems.to_string()))?;
    Ok(Some((definitions, applied.version)))
}

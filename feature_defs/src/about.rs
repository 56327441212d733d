//! What objects say of themselves to people.

use crate::name::Name;

/// What an object says of itself to people, whatever it is. None of it decides a value, so none of it is part of the
/// object's fingerprint.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize)]
pub struct About {
    /// What it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Who answers for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// Words to find it by, in order of writing, each once.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Why it should not be used any more, and what to use instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deprecated: Option<String>,
    /// The name that it had before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub renamed_from: Option<Name>,
}

//! The names of all keys. All start with `nf:NAMESPACE:`, so that one pattern allows a user what is one project's.
//!
//! ```text
//! nf:shop:{shop}:state                  the small records, one hash
//! nf:shop:{shop}:release:7              whether release 7 may be read
//! nf:shop:2:{key}                       all versions of a row of view 2, by the entity's canonical key bytes
//! nf:shop:2:changed:9:0                 block 0 of the keys that snapshot 9 changed
//! nf:shop:2:all:9:0                     block 0 of all keys as of snapshot 9
//! ```
//!
//! What stands in braces decides the slot in a cluster: all records are in one slot, and so are the rows that all views
//! have of one entity. A closing brace within a key only ends that part early, for all views alike.

use crate::online::versioned::view_record::Block;
use crate::release::ReleaseNumber;

/// The keys of one namespace.
#[derive(Debug, Clone)]
pub(super) struct Keys {
    namespace: String,
}

impl Keys {
    pub(super) fn new(namespace: &str) -> Self {
        Self {
            namespace: namespace.to_owned(),
        }
    }

    pub(super) fn state(&self) -> String {
        format!("nf:{0}:{{{0}}}:state", self.namespace)
    }

    pub(super) fn release(&self, number: ReleaseNumber) -> String {
        format!("nf:{0}:{{{0}}}:release:{number}", self.namespace)
    }

    /// What the keys of a view's rows start with.
    pub(super) fn row_prefix(&self, view: u64) -> Vec<u8> {
        format!("nf:{}:{view}:{{", self.namespace).into_bytes()
    }

    pub(super) fn block(&self, block: &Block) -> String {
        let (kind, run) = (block.kind.name(), block.run.0);
        format!(
            "nf:{}:{}:{kind}:{run}:{}",
            self.namespace, block.view, block.index
        )
    }
}

/// A row's key, from [`Keys::row_prefix`].
pub(super) fn row_key(prefix: &[u8], key: &[u8]) -> Vec<u8> {
    let mut name = Vec::with_capacity(prefix.len() + key.len() + 1);
    write_row_key(prefix, key, &mut name);
    name
}

/// Writes a row's key over what is in `name`.
pub(super) fn write_row_key(prefix: &[u8], key: &[u8], name: &mut Vec<u8>) {
    name.clear();
    name.extend_from_slice(prefix);
    name.extend_from_slice(key);
    name.push(b'}');
}

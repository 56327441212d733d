//! What tests of this crate share: small definitions, a store in memory that can be told to fail, a scorer that shows
//! what it was given.

pub(crate) mod fixture;
pub(crate) mod memory_store;

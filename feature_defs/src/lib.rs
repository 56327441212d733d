//! What is asked for: the definitions of a feature store, the words they are written in, and the rules of time.
//!
//! ```text
//!   nightfill.yaml, features/*.yaml, *.sql
//!            |  parse      texts to trees with places
//!            v
//!        validate          every problem at once ------> Problems (error, report)
//!            |  expression, sql: planned and type-checked
//!            v
//!       Definitions        immutable, fingerprinted: entities, sources, views, request views, services, models
//!
//!   as_of, time            the rules of time as pure functions, asked by night and by day
//! ```
//!
//! It is not an engine: it reads definition files and nothing else, runs no query and never reads a clock except
//! through [`time::Clock`].

pub mod aggregation;
pub mod as_of;
pub mod data_type;
pub mod definitions;
pub mod entity;
pub mod error;
pub mod expression;
pub mod feature_service;
pub mod feature_view;
pub mod fingerprint;
pub mod model;
pub mod name;
pub mod parse;
pub mod project;
pub mod report;
pub mod request_view;
pub mod source;
pub mod sql;
pub mod time;
mod validate;
pub mod value;

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
//!
//! ```
//! use feature_defs::definitions::DefinitionFile;
//!
//! let file = |path: &str, text: &str| DefinitionFile { path: path.to_owned(), text: text.to_owned() };
//! let shop = "
//! entities:
//!   customer: { keys: { customer_id: int64 } }
//! sources:
//!   purchases:
//!     path: data/*.parquet
//!     event_time: at
//!     columns: { customer_id: int64, at: timestamp, amount: \"decimal(12,2)\" }
//! views:
//!   spend:
//!     entity: customer
//!     source: purchases
//!     windows: [7d, lifetime]
//!     aggregate: { spend: sum(amount) }
//! ";
//! let files = vec![file("nightfill.yaml", "version: 1\nproject: shop\n"), file("shop.yaml", shop)];
//! let definitions = feature_defs::parse::parse("/srv/shop".as_ref(), files)?;
//! let features: Vec<&str> = definitions.views["spend"].features.iter().map(|f| f.name.as_str()).collect();
//! assert_eq!(features, ["spend_7d", "spend_lifetime"]);
//! # Ok::<(), feature_defs::error::Problems>(())
//! ```

pub mod about;
pub mod age;
pub mod aggregation;
pub mod article;
pub mod as_of;
pub mod check;
pub mod data_type;
pub mod definitions;
pub mod deprecation;
pub mod difference;
pub mod entity;
pub mod error;
pub mod expression;
pub mod feature_service;
pub mod feature_view;
pub mod fingerprint;
pub mod float16;
pub mod foreign;
pub mod language;
pub mod lineage;
pub mod model;
pub mod name;
pub mod object;
pub mod parse;
pub mod project;
pub mod redis_place;
pub mod report;
pub mod request_view;
pub mod source;
pub mod sql;
pub mod suggestion;
pub mod time;
mod validate;
pub mod value;

//! SQL in definitions: which functions it may use, how it is read, and how its faults are told.
//!
//! ```text
//!   functions      the allowed functions and the settings, the same when definitions are checked and by night
//!   statement      a text to one SELECT over declared sources and views; bind gives `$as_of` its instant
//!   check          a SELECT to its output columns, planned over the columns of what it reads
//!   dialects       what other dialects of SQL write otherwise
//!   mixed          values of types that only a cast puts together which may fail on a row
//!   only_by_night  what plans, and has no result on any rows
//!   order          which functions show the order of their rows
//!   limit          limits that choose rows without an order
//!   types          types of the engine, as definitions call them
//!   locate         the part of a SELECT that does not plan
//!   fault          what is wrong, in the user's words, at a place in the user's text
//!   reword         the engine's most common messages, with what to do about them
//! ```
//!
//! Night and day never plan anything else than what was checked: [`bind`] reads the same text by the same rules, and
//! [`functions()`] and [`settings`] hold for both.

pub(crate) mod arithmetic;
pub(crate) mod chain;
pub(crate) mod check;
pub(crate) mod dialects;
mod fault;
pub(crate) mod functions;
mod limit;
mod locate;
pub(crate) mod mixed;
mod only_by_night;
mod order;
mod reword;
pub(crate) mod statement;
#[cfg(test)]
mod tests;
pub(crate) mod types;

pub(crate) use check::{logical_plan, schema};
pub use fault::failure;
pub(crate) use fault::{Fault, engine_fault, engine_faults, parser_fault, quoted, range_of};
pub use functions::{Functions, functions, settings};
pub use limit::unordered_limits;
pub use order::is_orderless;
pub(crate) use order::is_orderless_over_ties;
pub use statement::{SqlError, bind};

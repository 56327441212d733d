//! The day, end to end through the router, over a store in memory and a clock that stands still.

mod keys;
mod order;
mod releases;
mod request_time;
mod states;

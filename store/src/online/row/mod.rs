//! The packed row: one entity's features of one view, as stored bytes that are read in place.
//!
//! All numbers are little-endian; offsets are known from the [`RowLayout`], so a value is one load away.
//!
//! ```text
//! offset  size
//!  0      1      format       1
//!  1      1      flags        0; any other value is refused
//!  2      6      layout       first bytes of the hash over the features' names, types and nullability:
//!                             a reader with another layout refuses the row instead of misreading it
//!  8      8      event time   i64, microseconds UTC
//! 16      n/8    nulls        one bit a nullable feature, in order, 1 = null, lowest bit first; n/8 rounded up;
//!                             not there without nullable features; unused bits are 0
//!  .      w*     fixed part   one slot a feature, in order, without padding; the slot of a null is 0
//!  .      .      variable     the bytes of strings, bytes, lists and structs, in order, back to back, to the end of the
//!                             row
//!
//! slot    bool 1 (0 or 1) · int8, uint8 1 · int16, uint16, float16 2 · int32, uint32, float32, date (days) 4 ·
//!         int64, uint64, float64, timestamp (microseconds) 8 · decimal 16 (unscaled) · uuid 16 ·
//!         vector n·w (its n elements back to back, each as wide as its own slot) ·
//!         string, bytes, list, struct 4 (where its bytes end, counted from the start of the variable part)
//!
//! list    length  u32, then nulls: one bit an element as above, rounded up, then the elements that are not null
//! struct  nulls: one bit a field, rounded up, then the fields that are not null, in the order of the type
//!         inside a list or struct: what has a slot stands as in its slot, string and bytes after their length (u32),
//!         lists and structs as here
//! ```
//!
//! The same values give the same bytes: floats keep their bits, NaN payloads and the sign of zero included.

mod decimal;
mod encode;
mod gather;
mod layout;
mod nested;
#[cfg(test)]
mod tests;
mod view;

pub use decimal::decimal_to_f64;
pub use encode::RowEncoder;
pub use gather::gather;
pub use layout::RowLayout;
pub use view::RowView;

/// Bytes of a row's header.
pub const HEADER_LENGTH: usize = 16;

/// The format that this code writes and reads.
const FORMAT: u8 = 1;

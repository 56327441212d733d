//! The hot path: all rows of one request, in one round trip.

use redis::{Value, cmd};

use super::keys::write_row_key;
use super::state::State;
use crate::error::Result;
use crate::online::versioned::error::{gone, unexpected};
use crate::online::versioned::release_reader::ReleaseReader;
use crate::online::{RowAddress, RowState, Rows};

/// Reads the rows together with the release's mark, at one moment: versions go only after the mark, so where it stands,
/// a row that is not there never was.
pub(super) async fn read(
    state: &State,
    reader: &ReleaseReader,
    addresses: &[RowAddress<'_>],
    rows: &mut Rows,
) -> Result<()> {
    let mut command = cmd("MGET");
    command.arg(state.keys.release(reader.number));
    let mut name = Vec::new();
    for address in addresses {
        write_row_key(&reader.view(address).row_prefix, address.key, &mut name);
        command.arg(name.as_slice());
    }
    let Value::Array(values) = state.connection.read(&command).await? else {
        return Err(unexpected());
    };
    if values.len() != addresses.len() + 1 {
        return Err(unexpected());
    }
    let mut values = values.into_iter();
    if !matches!(values.next(), Some(Value::BulkString(_))) {
        return Err(gone(reader.number));
    }
    for (value, address) in values.zip(addresses) {
        match &value {
            Value::Nil => rows.push(RowState::Missing),
            Value::BulkString(value) => reader.view(address).push_row(value, rows),
            _ => return Err(unexpected()),
        }
    }
    Ok(())
}

//! The small records on the server: one hash, changed by one script that compares before it sets.

use std::collections::BTreeMap;

use redis::cmd;

use super::connection::Connection;
use super::keys::Keys;
use crate::error::Result;
use crate::online::versioned::records::{Change, Fields};

/// Sets fields if others are still as they were read. A field that is not there reads as an empty text, and is
/// removed by one.
const COMPARE_AND_SET: &str = r"
local checks = tonumber(ARGV[1])
for at = 3, 1 + 2 * checks, 2 do
  if (redis.call('HGET', KEYS[1], ARGV[at]) or '') ~= ARGV[at + 1] then
    return 0
  end
end
for at = 3 + 2 * checks, #ARGV, 2 do
  if ARGV[at + 1] == '' then
    redis.call('HDEL', KEYS[1], ARGV[at])
  else
    redis.call('HSET', KEYS[1], ARGV[at], ARGV[at + 1])
  end
end
if KEYS[2] and ARGV[2] == '' then
  redis.call('DEL', KEYS[2])
elseif KEYS[2] then
  redis.call('SET', KEYS[2], ARGV[2])
end
return 1
";

/// The records of one namespace.
#[derive(Debug, Clone)]
pub(super) struct State {
    pub(super) connection: Connection,
    pub(super) keys: Keys,
}

impl State {
    pub(super) async fn read_fields(&self, names: &[&str]) -> Result<Fields> {
        let mut command = cmd("HMGET");
        command.arg(self.keys.state()).arg(names);
        let texts: Vec<Option<String>> = self.connection.read_as(&command).await?;
        let mut fields = Fields::default();
        for (name, text) in names.iter().zip(texts) {
            if let Some(text) = text {
                fields.insert((*name).to_owned(), text);
            }
        }
        Ok(fields)
    }

    pub(super) async fn read_all_fields(&self) -> Result<Fields> {
        let mut command = cmd("HGETALL");
        command.arg(self.keys.state());
        let texts: BTreeMap<String, String> = self.connection.read_as(&command).await?;
        let mut fields = Fields::default();
        for (name, text) in texts {
            fields.insert(name, text);
        }
        Ok(fields)
    }

    pub(super) async fn compare_and_set(&self, change: &Change) -> Result<bool> {
        let mut command = cmd("EVAL");
        command.arg(COMPARE_AND_SET);
        command.arg(1 + usize::from(change.marker.is_some()));
        command.arg(self.keys.state());
        if let Some((release, _)) = change.marker {
            command.arg(self.keys.release(release));
        }
        command.arg(change.checks.len());
        let readable = change.marker.is_some_and(|(_, readable)| readable);
        command.arg(if readable { "1" } else { "" });
        for (name, text) in change.checks.iter().chain(&change.sets) {
            command.arg(name).arg(text);
        }
        let changed: u64 = self.connection.ask(&command).await?;
        Ok(changed == 1)
    }
}

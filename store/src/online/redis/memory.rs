//! Whether the server has room for what is to be written, and keeps it.

use redis::cmd;

use super::connection::Connection;
use crate::error::{Error, ErrorKind, Result};

/// What the server takes for a key beside its bytes: the entry, two headers, what the allocator rounds up.
const OVERHEAD_A_KEY: u64 = 100;

/// What the server says of its memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Memory {
    used: u64,
    /// 0 is without limit.
    most: u64,
    policy: String,
}

impl Memory {
    pub(super) async fn of(connection: &Connection) -> Result<Self> {
        let mut command = cmd("INFO");
        command.arg("memory");
        let text: String = connection.read_as(&command).await?;
        Ok(Self::parse(&text))
    }

    fn parse(text: &str) -> Self {
        let value = |name: &str| {
            let mut lines = text.lines().filter_map(|line| line.split_once(':'));
            lines.find(|(key, _)| *key == name).map(|(_, value)| value)
        };
        let number = |name| value(name).and_then(|text| text.parse().ok()).unwrap_or(0);
        Self {
            used: number("used_memory"),
            most: number("maxmemory"),
            policy: value("maxmemory_policy").unwrap_or("noeviction").to_owned(),
        }
    }

    /// # Errors
    /// `Invalid` when the server would remove keys that nobody gave a time to live: rows would go missing.
    pub(super) fn check_policy(&self) -> Result<()> {
        if self.most == 0 || !self.policy.starts_with("allkeys-") {
            return Ok(());
        }
        Err(Error::new(
            ErrorKind::Invalid,
            format!(
                "the online store's server removes rows when its memory is full (`maxmemory-policy {}`), and they would be missing: set `maxmemory-policy noeviction`",
                self.policy
            ),
        ))
    }

    /// # Errors
    /// `Unavailable` when that many keys of that many bytes, all told, do not fit.
    pub(super) fn check_room(&self, keys: u64, bytes: u64) -> Result<()> {
        let needed = bytes.saturating_add(keys.saturating_mul(OVERHEAD_A_KEY));
        if self.most == 0 || self.used.saturating_add(needed) <= self.most {
            return Ok(());
        }
        Err(Error::new(
            ErrorKind::Unavailable,
            format!(
                "{keys} new rows need about {} MiB, and the online store's server has {} MiB left of its {}: raise its `maxmemory`, or drop old releases (`nightfill release drop`)",
                mebibytes(needed),
                mebibytes(self.most.saturating_sub(self.used)),
                mebibytes(self.most)
            ),
        ))
    }
}

const fn mebibytes(bytes: u64) -> u64 {
    bytes.div_ceil(1 << 20)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memory(most: u64, policy: &str) -> Memory {
        let text = format!(
            "# Memory\r\nused_memory:1048576\r\nmaxmemory:{most}\r\nmaxmemory_policy:{policy}\r\n"
        );
        Memory::parse(&text)
    }

    #[test]
    fn a_server_that_removes_rows_is_refused() {
        let lru = memory(1 << 30, "allkeys-lru").check_policy();
        let error = lru.expect_err("evicts");
        assert_eq!(error.kind(), ErrorKind::Invalid);
        assert!(error.to_string().contains("`maxmemory-policy noeviction`"));
        for (most, policy) in [(0, "allkeys-lru"), (1, "noeviction"), (1, "volatile-ttl")] {
            memory(most, policy).check_policy().expect("keeps rows");
        }
    }

    #[test]
    fn what_cannot_fit_is_refused_with_figures() {
        let memory = memory(3 << 20, "noeviction");
        memory.check_room(1_000, 1 << 20).expect("fits");
        let error = memory.check_room(1_000, 2 << 20).expect_err("does not fit");
        assert_eq!(error.kind(), ErrorKind::Unavailable);
        assert_eq!(
            error.to_string(),
            "1000 new rows need about 3 MiB, and the online store's server has 2 MiB left of its 3: raise its `maxmemory`, or drop old releases (`nightfill release drop`)"
        );
    }
}

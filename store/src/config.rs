//! Settings of the stores: data, no objects.

/// Settings of [`crate::online::embedded::EmbeddedStore`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EmbeddedSettings {
    /// Most bytes that the store may grow to, a multiple of the page size, the same for all processes. It reserves
    /// address space, not memory or disk.
    pub map_size: usize,
    /// Most reads at once, over all processes.
    pub max_readers: u32,
}

impl Default for EmbeddedSettings {
    /// 256 GiB, 1,024 reads.
    fn default() -> Self {
        Self {
            map_size: 256 << 30,
            max_readers: 1_024,
        }
    }
}

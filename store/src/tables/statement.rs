//! The one statement that reads a table: only the columns and rows that are asked for.

use feature_defs::data_type::DataType;
use feature_defs::time::Instant;

use super::column_type::ColumnType;

/// Which columns and rows of a table are read.
#[derive(Debug, Clone)]
pub struct TableRead {
    /// The table's schema.
    pub schema: String,
    /// The table.
    pub table: String,
    /// Its columns to read.
    pub columns: Vec<ReadColumn>,
    /// Times after which rows are not wanted. Some that are may come, never one too few.
    pub bounds: Vec<TimeBound>,
}

/// A column that is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadColumn {
    /// Its name.
    pub name: String,
    /// Its type.
    pub column_type: ColumnType,
    /// The type that is declared for it.
    pub declared: DataType,
}

/// Rows whose time is later are not wanted. Those without a time are, and those of infinity: reading them is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimeBound {
    /// The column of times, one of those that are read.
    pub column: String,
    /// The last time that is wanted.
    pub until: Instant,
}

/// More than any zone is away from UTC: local times are cut exactly by the reader, who knows their zone.
const ZONES_MICROS: i64 = 2 * 86_400_000_000;

/// Instants whose years have four digits, from 0001 to 9999, but for a week.
const WRITTEN: std::ops::Range<i64> = -62_135_000_000_000_000..253_401_000_000_000_000;

impl TableRead {
    /// The statement, with all names quoted.
    pub(super) fn sql(&self) -> String {
        let columns: Vec<String> = self.columns.iter().map(selected).collect();
        let mut sql = format!(
            "SELECT {} FROM {}.{}",
            columns.join(", "),
            quoted(&self.schema),
            quoted(&self.table)
        );
        let bounds: Vec<String> = self.bounds.iter().filter_map(|b| self.bound(b)).collect();
        if !bounds.is_empty() {
            sql.push_str(" WHERE ");
            sql.push_str(&bounds.join(" AND "));
        }
        sql
    }

    fn bound(&self, bound: &TimeBound) -> Option<String> {
        let mut columns = self.columns.iter();
        let column = columns.find(|column| column.name == bound.column)?;
        let (type_name, margin) = match &column.column_type {
            ColumnType::Timestamptz => ("timestamptz", 0),
            ColumnType::Timestamp => ("timestamp", ZONES_MICROS),
            ColumnType::Date => ("date", ZONES_MICROS),
            _ => return None,
        };
        let until = bound.until.micros().checked_add(margin)?;
        if !WRITTEN.contains(&until) {
            return None;
        }
        let until = Instant::from_micros(until);
        let column = quoted(&bound.column);
        Some(format!(
            "({column} <= '{until}'::{type_name} OR {column} = 'infinity'::{type_name} OR {column} IS NULL)"
        ))
    }
}

fn selected(column: &ReadColumn) -> String {
    let name = quoted(&column.name);
    match &column.column_type {
        ColumnType::AsText => format!("{name}::text"),
        ColumnType::Array(of) if **of == ColumnType::AsText => format!("{name}::text[]"),
        _ => name,
    }
}

/// A name as it stands in SQL, whatever is in it.
fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

//! Increment tables: by how much the next bid must exceed the price.

use serde::{Deserialize, Serialize};

/// Rows of a table, at most.
pub const INCREMENT_ROWS_MAX: usize = 100;

/// A row: from this price on, inclusive, this increment applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct IncrementRow {
    /// Lower bound of the price, inclusive, minor units.
    pub from: i64,
    /// Increment up to the next row, minor units; at least 1.
    pub increment: i64,
}

/// A valid increment table: the first row begins at 0, lower bounds rise, and the last row has no upper bound. Its JSON
/// is the list of its rows, such as `[{"from":0,"increment":100},{"from":2000,"increment":200}]`; parsing validates.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<IncrementRow>", into = "Vec<IncrementRow>")]
pub struct IncrementTable(Vec<IncrementRow>);

impl IncrementTable {
    /// A table of these rows, if they are valid.
    pub fn new(rows: Vec<IncrementRow>) -> Result<Self, IncrementTableError> {
        if rows.len() > INCREMENT_ROWS_MAX {
            return Err(IncrementTableError::TooLong);
        }
        match rows.first() {
            None => return Err(IncrementTableError::Empty),
            Some(first) if first.from != 0 => return Err(IncrementTableError::FirstNotZero { from: first.from }),
            Some(_) => {}
        }
        if let Some(row) = rows.iter().position(|row| row.increment < 1) {
            return Err(IncrementTableError::IncrementTooSmall { row });
        }
        if let Some(before) = rows.windows(2).position(|pair| pair[1].from <= pair[0].from) {
            return Err(IncrementTableError::NotRising { row: before + 1 });
        }
        Ok(Self(rows))
    }

    /// The rows, ordered by lower bound.
    pub fn rows(&self) -> &[IncrementRow] {
        &self.0
    }

    /// The increment at a price, minor units. A price below 0 counts as 0.
    pub fn increment_at(&self, price: i64) -> i64 {
        let above = self.0.partition_point(|row| row.from <= price);
        self.0[above.saturating_sub(1)].increment
    }

    /// The increment of the first row: the opening bid of an item whose opening bid is 0.
    pub fn first(&self) -> i64 {
        self.0[0].increment
    }
}

/// The default table. In a currency with two decimals, the increment is 1.00 below 20.00; above, it is between 4 % and
/// 10 % of the price, as is common in salerooms, and 1,000.00 from 10,000.00 on.
impl Default for IncrementTable {
    fn default() -> Self {
        const ROWS: [(i64, i64); 10] = [
            (0, 100),
            (2_000, 200),
            (5_000, 500),
            (10_000, 1_000),
            (20_000, 2_000),
            (50_000, 5_000),
            (100_000, 10_000),
            (200_000, 20_000),
            (500_000, 50_000),
            (1_000_000, 100_000),
        ];
        Self(ROWS.map(|(from, increment)| IncrementRow { from, increment }).to_vec())
    }
}

impl TryFrom<Vec<IncrementRow>> for IncrementTable {
    type Error = IncrementTableError;

    fn try_from(rows: Vec<IncrementRow>) -> Result<Self, Self::Error> {
        Self::new(rows)
    }
}

impl From<IncrementTable> for Vec<IncrementRow> {
    fn from(table: IncrementTable) -> Self {
        table.0
    }
}

/// Why rows do not make an increment table. Rows are counted from 0.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IncrementTableError {
    /// No row.
    #[error("an increment table needs at least one row")]
    Empty,
    /// More than [`INCREMENT_ROWS_MAX`] rows.
    #[error("an increment table has at most {INCREMENT_ROWS_MAX} rows")]
    TooLong,
    /// The first row does not begin at 0.
    #[error("the first row must begin at 0, not at {from}")]
    FirstNotZero {
        /// Its lower bound.
        from: i64,
    },
    /// A lower bound is not above the previous one.
    #[error("row {row} must begin above the row before it")]
    NotRising {
        /// The later of the two rows.
        row: usize,
    },
    /// An increment below 1.
    #[error("the increment of row {row} must be at least 1")]
    IncrementTooSmall {
        /// The row.
        row: usize,
    },
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{auction, item, with_bid};
    use crate::{Auction, AuctionKind, Item, minimum_bid};
    use contract::{AuctionStatus, ItemStatus};

    fn table(rows: &[(i64, i64)]) -> Result<IncrementTable, IncrementTableError> {
        IncrementTable::new(rows.iter().map(|&(from, increment)| IncrementRow { from, increment }).collect())
    }

    #[test]
    fn lower_bounds_are_inclusive_and_the_last_row_is_open() {
        let table = table(&[(0, 5), (100, 10), (500, 50)]).unwrap();
        for (price, increment) in
            [(i64::MIN, 5), (-1, 5), (0, 5), (99, 5), (100, 10), (499, 10), (500, 50), (501, 50), (i64::MAX, 50)]
        {
            assert_eq!(table.increment_at(price), increment, "at {price}");
        }
    }

    #[test]
    fn invalid_rows_are_rejected_with_their_index() {
        use IncrementTableError::*;
        let cases: [(&[(i64, i64)], _); 7] = [
            (&[], Empty),
            (&[(1, 5)], FirstNotZero { from: 1 }),
            (&[(-1, 5)], FirstNotZero { from: -1 }),
            (&[(0, 0)], IncrementTooSmall { row: 0 }),
            (&[(0, 5), (10, -5)], IncrementTooSmall { row: 1 }),
            (&[(0, 5), (0, 10)], NotRising { row: 1 }),
            (&[(0, 5), (20, 10), (10, 20)], NotRising { row: 2 }),
        ];
        for (rows, error) in cases {
            assert_eq!(table(rows), Err(error), "{rows:?}");
        }
        let longest: Vec<_> = (0..100).map(|row| (row, 1)).collect();
        assert!(table(&longest).is_ok());
        let too_long: Vec<_> = (0..101).map(|row| (row, 1)).collect();
        assert_eq!(table(&too_long), Err(TooLong));
    }

    #[test]
    fn json_is_the_list_of_rows_and_is_validated() {
        let text = r#"[{"from":0,"increment":5},{"from":100,"increment":10}]"#;
        let parsed: IncrementTable = serde_json::from_str(text).unwrap();
        assert_eq!(parsed, table(&[(0, 5), (100, 10)]).unwrap());
        assert_eq!(serde_json::to_string(&parsed).unwrap(), text);
        let refused = serde_json::from_str::<IncrementTable>("[]").unwrap_err();
        assert!(refused.to_string().starts_with("an increment table needs at least one row"), "{refused}");
    }

    #[test]
    fn the_default_table_is_valid_and_its_increments_rise_with_the_price() {
        let table = IncrementTable::default();
        assert_eq!(IncrementTable::new(table.rows().to_vec()), Ok(table.clone()));
        assert!(table.rows().windows(2).all(|pair| pair[0].increment < pair[1].increment));
    }

    #[test]
    fn the_minimum_bid_is_the_opening_bid_then_the_price_and_its_increment() {
        let increments = table(&[(0, 5), (100, 10)]).unwrap();
        let auction = Auction { increments, ..auction(AuctionKind::Timed, AuctionStatus::Live) };
        let check = |opening_bid, fixed_increment, price: Option<i64>, minimum| {
            let item = Item { opening_bid, fixed_increment, ..item(&auction, ItemStatus::Live) };
            let item = price.map_or(item.clone(), |price| with_bid(item, price));
            assert_eq!(minimum_bid(&auction, &item), minimum);
        };
        check(70, None, None, 70);
        check(0, None, None, 5);
        check(0, Some(7), None, 7);
        check(70, Some(7), None, 70);
        check(70, None, Some(99), 104);
        check(70, None, Some(100), 110);
        check(70, Some(7), Some(100), 107);
    }
}

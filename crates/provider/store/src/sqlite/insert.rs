//! Inserting many rows, [`ROWS`] to a statement: SQLite does a fifth less for them than for as many statements, because its
//! cursors stay where the row before went.
//!
//! They are `INSERT OR FAIL`: a statement that fails fails its job, which is undone as a whole, so that SQLite need not copy
//! every page that the statement touches to be able to undo the statement alone.

use rusqlite::{CachedStatement, Connection, ToSql};

use super::rows::SqlResult;

/// Rows of one statement; what is left goes one by one.
pub(super) const ROWS: usize = 8;

/// A statement: `head`, the values of each row, `tail`. In the values each `?` is bound, in order.
pub(super) struct Sql {
    pub(super) head: &'static str,
    pub(super) values: &'static str,
    pub(super) tail: &'static str,
}

/// An insert, prepared for one row and for many.
pub(super) struct Insert<'db> {
    one: CachedStatement<'db>,
    many: CachedStatement<'db>,
}

/// Takes the values of rows, one after the other.
pub(super) struct Values<'a, 'db> {
    statement: &'a mut CachedStatement<'db>,
    bound: usize,
}

impl<'db> Insert<'db> {
    pub(super) fn prepare(db: &'db Connection, sql: &Sql) -> SqlResult<Self> {
        let Sql { head, values, tail } = sql;
        let one = db.prepare_cached(&format!("{head} VALUES {values} {tail}"))?;
        let many = db.prepare_cached(&format!("{head} VALUES {} {tail}", [*values; ROWS].join(", ")))?;
        Ok(Self { one, many })
    }

    /// Inserts rows in order; how many of them were, which is fewer when the statement leaves some out.
    pub(super) fn rows<R>(
        &mut self,
        rows: &[R],
        bind: impl Fn(&mut Values<'_, '_>, &R) -> SqlResult<()>,
    ) -> SqlResult<usize> {
        let (groups, rest) = rows.as_chunks::<ROWS>();
        let mut inserted = 0;
        for group in groups {
            inserted += execute(&mut self.many, group, &bind)?;
        }
        for row in rest {
            inserted += execute(&mut self.one, std::slice::from_ref(row), &bind)?;
        }
        Ok(inserted)
    }
}

fn execute<R>(
    statement: &mut CachedStatement<'_>,
    rows: &[R],
    bind: impl Fn(&mut Values<'_, '_>, &R) -> SqlResult<()>,
) -> SqlResult<usize> {
    let mut values = Values { statement, bound: 0 };
    for row in rows {
        bind(&mut values, row)?;
    }
    Ok(statement.raw_execute()?)
}

impl Values<'_, '_> {
    pub(super) fn bind(&mut self, value: impl ToSql) -> SqlResult<()> {
        self.bound += 1;
        Ok(self.statement.raw_bind_parameter(self.bound, value)?)
    }
}

//! The columns of the grid that a user chose. A cookie keeps the choice for this user in this browser, so that the server
//! renders the chosen columns at once, and without script too.

use axum::extract::State;
use axum::response::{AppendHeaders, IntoResponse as _, Response};
use http::HeaderMap;
use http::header::SET_COOKIE;
use kit_design::fields::{FormFields, SubmittedForm};
use platform_core::Scope;

use super::columns::Column;
use super::grid;
use crate::admin::Admin;
use crate::page_error::PageError;
use crate::session::{PathIds, Session};

/// Seconds for which a browser keeps the choice: 400 days, which is the most that browsers allow.
const KEPT_S: i64 = 400 * 24 * 3_600;
/// Users of one browser whose choices its cookie keeps: the last ones who chose.
const USERS_MAX: usize = 3;
/// Last hexadecimal digits of a user's UUID, which name the user in the cookie.
const USER_DIGITS: usize = 8;

/// A column of the grid after the lot number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum GridColumn {
    /// A field that can be edited in its cell.
    Field(Column),
    Status,
    Price,
    Bids,
    Ends,
}

impl GridColumn {
    /// All columns, in the order of the grid.
    pub(super) const ALL: [Self; 14] = [
        Self::Field(Column::Title),
        Self::Field(Column::Description),
        Self::Field(Column::Category),
        Self::Field(Column::Vendor),
        Self::Field(Column::LowEstimate),
        Self::Field(Column::HighEstimate),
        Self::Field(Column::OpeningBid),
        Self::Field(Column::Reserve),
        Self::Field(Column::BuyNow),
        Self::Field(Column::FixedIncrement),
        Self::Status,
        Self::Price,
        Self::Bids,
        Self::Ends,
    ];

    /// The columns of a user who has not chosen any.
    const USUAL: [Self; 9] = [
        Self::Field(Column::Title),
        Self::Field(Column::LowEstimate),
        Self::Field(Column::HighEstimate),
        Self::Field(Column::OpeningBid),
        Self::Field(Column::Reserve),
        Self::Status,
        Self::Price,
        Self::Bids,
        Self::Ends,
    ];

    /// The name in the form and in the cookie.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Field(column) => column.name(),
            Self::Status => "status",
            Self::Price => "price",
            Self::Bids => "bids",
            Self::Ends => "ends",
        }
    }

    /// The heading.
    pub(super) fn heading(self) -> &'static str {
        match self {
            Self::Field(Column::LowEstimate) => "Low est.",
            Self::Field(Column::HighEstimate) => "High est.",
            Self::Field(Column::OpeningBid) => "Opening",
            Self::Field(Column::BuyNow) => "Buy now",
            Self::Field(Column::FixedIncrement) => "Increment",
            Self::Field(Column::Vendor) => "Consignor",
            Self::Field(column) => column.label(),
            Self::Status => "Status",
            Self::Price => "Price",
            Self::Bids => "Bids",
            Self::Ends => "Ends",
        }
    }

    pub(super) fn is_number(self) -> bool {
        match self {
            Self::Field(column) => column.is_amount(),
            Self::Price | Self::Bids => true,
            Self::Status | Self::Ends => false,
        }
    }

    /// The title is always shown: it names the row.
    pub(super) fn is_fixed(self) -> bool {
        self == Self::Field(Column::Title)
    }

    /// The columns that the user may see, in order. Consignors are for those who edit lots.
    pub(super) fn of_user(session: &Session) -> impl Iterator<Item = Self> {
        let has_vendors = session.may(Scope::AuctionsWrite);
        Self::ALL.into_iter().filter(move |column| has_vendors || *column != Self::Field(Column::Vendor))
    }
}

/// The columns that the user chose in this browser, in the order of the grid.
pub(super) fn chosen(session: &Session, headers: &HeaderMap) -> Vec<GridColumn> {
    let kept = session.admin.columns_cookie().read(headers).and_then(|value| choice_of(value, &user(session)));
    let is_shown = |column: &GridColumn| match &kept {
        Some(names) => column.is_fixed() || names.iter().any(|name| *name == column.name()),
        None => GridColumn::USUAL.contains(column),
    };
    GridColumn::of_user(session).filter(is_shown).collect()
}

/// `POST /auctions/{auction}/lots/columns`: keeps the choice, and leads back to the grid.
pub(super) async fn choose(
    session: Session,
    State(admin): State<Admin>,
    PathIds([auction]): PathIds<1>,
    headers: HeaderMap,
    SubmittedForm(form): SubmittedForm,
) -> Result<Response, PageError> {
    let names: Vec<&str> = GridColumn::ALL
        .iter()
        .map(|column| column.name())
        .filter(|name| form.all("column").any(|own| own == *name))
        .collect();
    let cookie = admin.columns_cookie();
    let value = with_choice(cookie.read(&headers).unwrap_or_default(), &user(&session), &names);
    let set = cookie.set(&value, KEPT_S).map(|set| (SET_COOKIE, set));
    let kept = grid::kept(&FormFields::of_query(form.text("back"))?);
    let back = admin.redirect(&format!("/auctions/{auction}/lots?{kept}"));
    Ok((AppendHeaders(set), back).into_response())
}

/// The user's name in the cookie. The last digits of a UUID are random.
fn user(session: &Session) -> String {
    let id = session.caller.id.simple().to_string();
    id.chars().skip(id.len() - USER_DIGITS).collect()
}

/// The names that a user chose: `user.name-name` is one choice, and `~` separates those of several users.
fn choice_of<'a>(value: &'a str, user: &str) -> Option<Vec<&'a str>> {
    let names = value.split('~').find_map(|choice| choice.strip_prefix(user)?.strip_prefix('.'))?;
    Some(names.split('-').collect())
}

/// The value with the choice of a user in place of an earlier one. It comes first; the oldest choices are left out.
fn with_choice(value: &str, user: &str, names: &[&str]) -> String {
    let own = format!("{user}.{}", names.join("-"));
    let others = value.split('~').filter(|choice| !choice.is_empty() && choice.split('.').next() != Some(user));
    std::iter::once(own.as_str()).chain(others).take(USERS_MAX).collect::<Vec<_>>().join("~")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_choices_of_several_users_are_kept() {
        let value = with_choice("", "aaaaaaaa", &["title", "reserve"]);
        let value = with_choice(&value, "bbbbbbbb", &[]);
        assert_eq!(value, "bbbbbbbb.~aaaaaaaa.title-reserve");
        assert_eq!(choice_of(&value, "aaaaaaaa"), Some(vec!["title", "reserve"]));
        assert_eq!(choice_of(&value, "bbbbbbbb"), Some(vec![""]), "none but the fixed one");
        assert_eq!(choice_of(&value, "cccccccc"), None);
        let value = with_choice(&value, "aaaaaaaa", &["bids"]);
        assert_eq!(value, "aaaaaaaa.bids~bbbbbbbb.");
    }

    #[test]
    fn the_longest_value_fits_into_a_cookie() {
        let names = GridColumn::ALL.map(GridColumn::name);
        let mut value = String::new();
        for user in ["aaaaaaaa", "bbbbbbbb", "cccccccc", "dddddddd"] {
            value = with_choice(&value, user, &names);
        }
        assert_eq!(value.split('~').count(), USERS_MAX);
        assert!(value.len() <= 512, "{}", value.len());
    }
}

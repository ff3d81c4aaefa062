//! Corrections of the fields of an auction: which fields can change, and when.
//!
//! | fields | can change |
//! |---|---|
//! | title, time zone, address, attachments | until the auction is archived |
//! | internet bids | until it is reconciled |
//! | start, extension, increments, charges | until it is reconciled, while no item has bids |
//! | closing time, stagger | as DRAFT and PREVIEW, in a webcast also as LIVE; in a LIVE timed auction by [`replan`] |
//! | who may bid | before it was LIVE, while no item has bids |
//! | currency | while it has no items, because their amounts are in its currency |
//!
//! The kind, the auctioneer and the customer never change.

use contract::AuctionStatus;
use contract::models::UrlAttachmentApiModel;
use jiff::Timestamp;
use serde::{Deserialize, Deserializer, Serialize};

use crate::lifecycle::require_valid_fields;
use crate::transitions::require_complete;
use crate::{
    Admission, Auction, AuctionChange, AuctionKind, Charges, IncrementTable, InternetBids, ItemCounts, Rejection,
    Stagger,
};

/// An edit type: optional fields with the names and types of the subject's fields.
macro_rules! fields_of {
    ($(#[$doc:meta])* $name:ident of $subject:ident { $($(#[$says:meta])* $field:ident: $type:ty = $json:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
        #[serde(rename_all = "camelCase")]
        pub struct $name {
            $($(#[$says])*
            #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "crate::edit::given")]
            pub $field: Option<$type>,)+
        }

        impl $name {
            /// The edit without the fields that have the wanted value already.
            pub fn without_unchanged(mut self, subject: &$subject) -> Self {
                $(if self.$field.as_ref() == Some(&subject.$field) {
                    self.$field = None;
                })+
                self
            }

            /// JSON names of the fields that the edit sets.
            pub fn fields(&self) -> Vec<&'static str> {
                [$(self.$field.is_some().then_some($json)),+].into_iter().flatten().collect()
            }

            /// Sets the given fields of the subject.
            pub fn apply_to(&self, subject: &mut $subject) {
                $(if let Some(value) = &self.$field {
                    subject.$field.clone_from(value);
                })+
            }
        }
    };
}
pub(crate) use fields_of;

fields_of! {
    /// A correction of an auction. A field that is none stays; in an optional field, an inner none removes the value.
    AuctionEdit of Auction {
        /// Title.
        title: String = "title",
        /// ISO 4217 code.
        currency: String = "currency",
        /// IANA time zone.
        time_zone: String = "timeZone",
        /// Id of its address.
        address_id: Option<i64> = "addressId",
        /// Images, documents and videos; replaces the whole list.
        attachments: Vec<UrlAttachmentApiModel> = "attachments",
        /// When bidding or the webcast starts.
        starts_at: Option<Timestamp> = "startsAt",
        /// Closing time.
        ends_at: Option<Timestamp> = "endsAt",
        /// Staggered ends.
        stagger: Option<Stagger> = "stagger",
        /// Extension window of soft close; none turns it off.
        extension_seconds: Option<u32> = "extensionSeconds",
        /// Increment table.
        increments: IncrementTable = "increments",
        /// Buyer's premium and tax.
        charges: Charges = "charges",
        /// Whether internet bids in a webcast need the clerk.
        internet_bids: InternetBids = "internetBids",
        /// Whether bidders have to be registered.
        registration: Admission = "registration",
    }
}

/// Reads a field that is present, so that `null` differs from an absent field.
pub(crate) fn given<'de, T: Deserialize<'de>, D: Deserializer<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

/// How the ends of a timed auction are planned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Plan {
    /// Closing time: the end of the first items.
    pub ends_at: Timestamp,
    /// Staggered ends.
    pub stagger: Option<Stagger>,
}

/// True when an edit changes terms that decide bids on LIVE items.
pub fn changes_terms(before: &Auction, after: &Auction) -> bool {
    let terms = |auction: &Auction| (auction.charges, auction.starts_at, auction.extension_seconds);
    after.status == AuctionStatus::Live && (terms(before) != terms(after) || before.increments != after.increments)
}

/// Begins an edit of the terms of a LIVE auction with too many items for one commit: the platform accepts no bid from
/// now on. Once all earlier decisions are committed, the caller finishes with [`end_terms_edit`].
pub fn begin_terms_edit() -> Vec<AuctionChange> {
    vec![AuctionChange::BidsHeld]
}

/// Finishes what [`begin_terms_edit`] began: applies the edit, or no edit when a bid was accepted before it began.
pub fn end_terms_edit(auction: &Auction, items: &ItemCounts, wanted: AuctionEdit) -> Vec<AuctionChange> {
    let mut changes = edit(auction, items, wanted).unwrap_or_default();
    changes.push(AuctionChange::BidsReleased);
    changes
}

/// Decides an edit. Fields that have the wanted value already produce no change. The caller decides the new ends of
/// items with [`crate::item::move_plan`].
///
/// Errors: `fields_locked`, `field_invalid`, `fields_missing`.
pub fn edit(auction: &Auction, items: &ItemCounts, edit: AuctionEdit) -> Result<Vec<AuctionChange>, Rejection> {
    let edit = edit.without_unchanged(auction);
    let locks: Vec<(&'static str, &'static str)> =
        edit.fields().into_iter().filter_map(|field| Some((field, lock(field, auction, items)?))).collect();
    if let Some((_, why)) = locks.first() {
        return Err(Rejection::FieldsLocked { fields: locks.iter().map(|(field, _)| *field).collect(), why });
    }
    changes(auction, edit)
}

/// Decides new ends for a timed auction that is not reconciled; it may be LIVE. For each item,
/// [`crate::item::move_plan`] enforces that the end only moves later.
///
/// Errors: `wrong_auction_kind`, `auction_closed`, `end_not_in_future`, `field_invalid`.
pub fn replan(auction: &Auction, plan: Plan, now: Timestamp) -> Result<Vec<AuctionChange>, Rejection> {
    auction.require_kind(AuctionKind::Timed)?;
    auction.require_open()?;
    let edit = AuctionEdit { ends_at: Some(Some(plan.ends_at)), stagger: Some(plan.stagger), ..AuctionEdit::default() };
    let edit = edit.without_unchanged(auction);
    let moves = edit.ends_at.is_some();
    if moves && auction.status == AuctionStatus::Live && plan.ends_at <= now {
        return Err(Rejection::EndNotInFuture);
    }
    changes(auction, edit)
}

fn changes(auction: &Auction, edit: AuctionEdit) -> Result<Vec<AuctionChange>, Rejection> {
    if edit == AuctionEdit::default() {
        return Ok(Vec::new());
    }
    let mut edited = auction.clone();
    edit.apply_to(&mut edited);
    require_valid_fields(&edited)?;
    if edited.status != AuctionStatus::Draft {
        require_complete(&edited)?;
    }
    Ok(vec![AuctionChange::Edited { edit: Box::new(edit) }])
}

/// Why a field can't change; none when it can.
fn lock(field: &str, auction: &Auction, items: &ItemCounts) -> Option<&'static str> {
    let because = |holds: bool, why| holds.then_some(why);
    let is_live = auction.status == AuctionStatus::Live;
    match (auction.status, field) {
        (AuctionStatus::Archived, _) => Some("the auction is archived"),
        (_, "title" | "timeZone" | "addressId" | "attachments") => None,
        (AuctionStatus::Reconciliation, _) => Some("the auction is reconciled"),
        (_, "currency") => because(items.total > 0, "the auction has items, and their amounts are in its currency"),
        (_, "endsAt" | "stagger") => because(
            is_live && auction.kind == AuctionKind::Timed,
            "the auction is LIVE: shift or stagger its ends instead, which moves them later only",
        ),
        (_, "internetBids") => None,
        (_, "registration") => because(auction.was_live || is_live, "bidders were admitted when the auction was LIVE")
            .or_else(|| because(items.with_bids > 0, "the auction has bids, which were made under these terms")),
        _ => because(items.with_bids > 0, "the auction has bids, which were made under these terms"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{at, auction};

    fn refused(auction: &Auction, items: ItemCounts, wanted: AuctionEdit) -> String {
        match edit(auction, &items, wanted) {
            Err(Rejection::FieldsLocked { fields, .. }) => fields.join(" "),
            Err(other) => other.code().to_owned(),
            Ok(_) => String::new(),
        }
    }

    fn everything() -> AuctionEdit {
        AuctionEdit {
            title: Some("Watches".into()),
            currency: Some("EUR".into()),
            time_zone: Some("Europe/Berlin".into()),
            address_id: Some(Some(7)),
            attachments: None,
            starts_at: Some(Some(at(5))),
            ends_at: Some(Some(at(2_000))),
            stagger: Some(Some(Stagger { seconds: 30, items: 2 })),
            extension_seconds: Some(Some(60)),
            increments: None,
            charges: Some(Charges { premium_basis_points: 2_500, ..Charges::default() }),
            internet_bids: Some(InternetBids::AcceptedAtOnce),
            registration: Some(Admission::Required),
        }
    }

    #[test]
    fn the_status_and_bids_determine_which_fields_are_locked() {
        let empty = ItemCounts::default();
        let bidden = ItemCounts { total: 2, live: 2, with_bids: 1, ..empty };
        let timed = |status| auction(AuctionKind::Timed, status);
        for (status, items, locked) in [
            (AuctionStatus::Draft, empty, ""),
            (AuctionStatus::Preview, ItemCounts { total: 1, ..empty }, "currency"),
            (AuctionStatus::Live, ItemCounts { total: 1, ..empty }, "currency endsAt stagger registration"),
            (AuctionStatus::Live, bidden, "currency startsAt endsAt stagger extensionSeconds charges registration"),
            (
                AuctionStatus::Reconciliation,
                bidden,
                "currency startsAt endsAt stagger extensionSeconds charges internetBids registration",
            ),
        ] {
            assert_eq!(refused(&timed(status), items, everything()), locked, "{status:?}");
        }
        let was_live = Auction { was_live: true, ..timed(AuctionStatus::Preview) };
        assert_eq!(refused(&was_live, empty, everything()), "registration");
        let title = AuctionEdit { title: Some("Late".into()), ..AuctionEdit::default() };
        assert_eq!(refused(&timed(AuctionStatus::Archived), empty, title), "title");
    }

    #[test]
    fn an_edit_replays_from_json_and_omits_unchanged_fields() {
        let draft = auction(AuctionKind::Timed, AuctionStatus::Draft);
        let wanted = AuctionEdit { currency: Some("GBP".into()), starts_at: Some(None), ..everything() };
        let changes = edit(&draft, &ItemCounts::default(), wanted).unwrap();
        let json = serde_json::to_string(&changes).unwrap();
        assert!(json.contains(r#""startsAt":null"#) && !json.contains("currency"), "{json}");
        let replayed: Vec<AuctionChange> = serde_json::from_str(&json).unwrap();
        let (mut one, mut other) = (draft.clone(), draft.clone());
        changes.iter().for_each(|change| one.apply(change));
        replayed.iter().for_each(|change| other.apply(change));
        assert_eq!((&one, one.starts_at, one.title.as_str()), (&other, None, "Watches"));
        let same = AuctionEdit { title: Some(draft.title.clone()), ..AuctionEdit::default() };
        assert_eq!(edit(&draft, &ItemCounts::default(), same), Ok(Vec::new()));
    }

    #[test]
    fn fields_that_the_status_requires_can_not_be_removed() {
        let preview = auction(AuctionKind::Timed, AuctionStatus::Preview);
        let bare = AuctionEdit { ends_at: Some(None), ..AuctionEdit::default() };
        assert_eq!(refused(&preview, ItemCounts::default(), bare), "fields_missing");
        let crossed = AuctionEdit { starts_at: Some(Some(at(1_000))), ..AuctionEdit::default() };
        assert_eq!(refused(&preview, ItemCounts::default(), crossed), "field_invalid");
    }

    #[test]
    fn the_closing_time_of_a_live_auction_must_be_in_the_future() {
        let live = auction(AuctionKind::Timed, AuctionStatus::Live);
        let to = |seconds| Plan { ends_at: at(seconds), stagger: None };
        assert!(replan(&live, to(2_000), at(10)).is_ok_and(|changes| changes.len() == 1));
        assert_eq!(replan(&live, to(10), at(10)), Err(Rejection::EndNotInFuture));
        let webcast = auction(AuctionKind::Webcast, AuctionStatus::Live);
        assert_eq!(replan(&webcast, to(2_000), at(10)).unwrap_err().code(), "wrong_auction_kind");
    }
}

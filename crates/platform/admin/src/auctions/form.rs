//! The form of an auction: what people type, and the platform's input.

use kit_design::field_group::FieldGroup;
use kit_design::fields::{FieldErrors, FormFields};
use kit_design::form_field::{Choice, FormField};
use platform_core::sales::auctions::NewAuction;
use platform_rules::increments::IncrementRow;
use platform_rules::{
    Admission, Auction, AuctionEdit, AuctionKind, Charges, EXTENSION_SECONDS_DEFAULT, IncrementTable, InternetBids,
    SaleMode, Stagger,
};
use uuid::Uuid;

use super::owners::{HouseDefaults, OwnerGroup};
use crate::sale::labels;
use platform_words::Currency;
use platform_words::SaleZone;
use platform_words::percent;

pub(crate) const CURRENCIES: &[&str] =
    &["GBP", "EUR", "USD", "CHF", "AUD", "CAD", "NZD", "ZAR", "SEK", "DKK", "NOK", "PLN", "JPY", "HKD"];
pub(crate) const TIME_ZONES: &[&str] = &[
    "Europe/London",
    "Europe/Dublin",
    "Europe/Paris",
    "Europe/Berlin",
    "Europe/Zurich",
    "Europe/Vienna",
    "Europe/Madrid",
    "Europe/Rome",
    "Europe/Amsterdam",
    "Europe/Stockholm",
    "Europe/Warsaw",
    "America/New_York",
    "America/Chicago",
    "America/Denver",
    "America/Los_Angeles",
    "America/Toronto",
    "Australia/Sydney",
    "Australia/Melbourne",
    "Pacific/Auckland",
    "Africa/Johannesburg",
    "Asia/Hong_Kong",
    "Asia/Singapore",
    "Asia/Tokyo",
    "Etc/UTC",
];

/// Currency and time zone of a new sale of a house that has named none.
pub(super) const CURRENCY_DEFAULT: &str = "GBP";
pub(super) const TIME_ZONE_DEFAULT: &str = "Europe/London";

/// What was typed, as text.
#[derive(Debug, Clone, Default)]
pub(super) struct Entered {
    pub(super) auctioneer: String,
    pub(super) kind: String,
    title: String,
    currency: String,
    time_zone: String,
    starts_at: String,
    ends_at: String,
    stagger_seconds: String,
    stagger_items: String,
    extension_seconds: String,
    registration: String,
    internet_bids: String,
    premium: String,
    hammer_tax: String,
    premium_tax: String,
    increments: String,
    is_sandbox: bool,
}

impl Entered {
    /// The values of a new auction before anything is typed.
    pub(super) fn empty() -> Self {
        Self {
            kind: AuctionKind::Timed.as_str().into(),
            stagger_seconds: "30".into(),
            stagger_items: "1".into(),
            extension_seconds: EXTENSION_SECONDS_DEFAULT.to_string(),
            registration: Admission::Required.as_str().into(),
            premium: "0".into(),
            hammer_tax: "0".into(),
            premium_tax: "0".into(),
            increments: increments_text(&IncrementTable::default(), &Currency::new(CURRENCY_DEFAULT)),
            ..Self::default()
        }
    }

    pub(super) fn of_form(form: &FormFields) -> Self {
        let text = |name: &str| form.text(name).to_owned();
        Self {
            auctioneer: text("auctioneer"),
            kind: text("kind"),
            title: text("title"),
            currency: text("currency").to_uppercase(),
            time_zone: text("timeZone"),
            starts_at: text("startsAt"),
            ends_at: text("endsAt"),
            stagger_seconds: text("staggerSeconds"),
            stagger_items: text("staggerItems"),
            extension_seconds: text("extensionSeconds"),
            registration: text("registration"),
            internet_bids: text("internetBids"),
            premium: text("premium"),
            hammer_tax: text("hammerTax"),
            premium_tax: text("premiumTax"),
            increments: text("increments"),
            is_sandbox: !text("sandbox").is_empty(),
        }
    }

    pub(super) fn of_auction(auction: &Auction) -> Self {
        let zone = SaleZone::of(auction);
        let number = |value: Option<u32>| value.map(|value| value.to_string()).unwrap_or_default();
        Self {
            auctioneer: auction.auctioneer.to_string(),
            kind: auction.kind.as_str().to_owned(),
            title: auction.title.clone(),
            currency: auction.currency.clone(),
            time_zone: auction.time_zone.clone(),
            starts_at: zone.optional_field(auction.starts_at),
            ends_at: zone.optional_field(auction.ends_at),
            stagger_seconds: number(auction.stagger.map(|stagger| stagger.seconds)),
            stagger_items: number(auction.stagger.map(|stagger| stagger.items)),
            extension_seconds: number(auction.extension_seconds),
            registration: auction.registration.as_str().to_owned(),
            internet_bids: internet_bids_name(auction.internet_bids).to_owned(),
            premium: percent::field(auction.charges.premium_basis_points),
            hammer_tax: percent::field(auction.charges.hammer_tax_basis_points),
            premium_tax: percent::field(auction.charges.premium_tax_basis_points),
            increments: increments_text(&auction.increments, &Currency::of(auction)),
            is_sandbox: auction.sale_mode() == SaleMode::Sandbox,
        }
    }

    /// With the currency and time zone in which new sales of a house begin. Values that were typed stay.
    pub(super) fn filled_from(mut self, defaults: &HouseDefaults) -> Self {
        let fill = |typed: &mut String, default: &Option<String>| {
            if typed.is_empty() {
                typed.clone_from(default.as_ref().unwrap_or(&String::new()));
            }
        };
        fill(&mut self.currency, &defaults.currency);
        fill(&mut self.time_zone, &defaults.time_zone);
        self
    }

    pub(super) fn is_sandbox(&self) -> bool {
        self.is_sandbox
    }

    /// What the sale is; with owners to choose from for a new one.
    pub(super) fn sale_group(&self, owners: Option<Vec<OwnerGroup>>, errors: &FieldErrors) -> FieldGroup {
        let mut fields = Vec::new();
        let is_new = owners.is_some();
        if let Some(owners) = owners {
            let groups = owners.into_iter().map(|group| (group.customer, group.auctioneers)).collect();
            fields.push(FormField::grouped("auctioneer", "Customer and auctioneer", groups).required().whole_row());
            let kinds =
                AuctionKind::ALL.into_iter().map(|kind| Choice::of(kind.as_str(), labels::kind(kind), &self.kind));
            let hint =
                "A timed auction ends by the clock. In a webcast, a clerk sells lot by lot. It can't change later.";
            fields.push(FormField::select("kind", "Kind", kinds.collect()).hint(hint));
        }
        fields.push(FormField::text("title", "Title", &self.title).required().whole_row());
        let currency = FormField::text("currency", "Currency", &self.currency).suggesting(CURRENCIES.iter().copied());
        let zone = FormField::text("timeZone", "Time zone", &self.time_zone).suggesting(TIME_ZONES.iter().copied());
        let (code, times) = ("ISO 4217 code.", "All times below are in this zone.");
        if is_new {
            fields.push(currency.optional().hint(format!("{code} Empty: that of the house.")));
            fields.push(zone.optional().hint(format!("{times} Empty: that of the house.")));
        } else {
            fields.push(currency.required().hint(code));
            fields.push(zone.required().hint(times));
        }
        FieldGroup::new("sale", "Sale", fields.into_iter().map(|field| field.with(errors)))
    }

    pub(super) fn date_group(&self, errors: &FieldErrors) -> FieldGroup {
        let fields = [
            FormField::time("endsAt", "Closing time", &self.ends_at)
                .hint("A timed auction needs it before its preview: its first lots end then."),
            FormField::time("startsAt", "Start", &self.starts_at)
                .hint("A webcast needs it before its preview. In a timed auction, bidding opens then."),
        ];
        FieldGroup::new("dates", "Dates", fields.map(|field| field.optional().with(errors)))
    }

    /// How lots end, who may bid, and what buyers pay: values that have defaults.
    pub(super) fn term_groups(&self, errors: &FieldErrors) -> [FieldGroup; 3] {
        [
            FieldGroup::new("ends", "Ends of lots", self.end_fields().map(|field| field.optional().with(errors)))
                .hint("For a timed auction."),
            FieldGroup::new("bidding", "Bidding", self.bidding_fields().map(|field| field.with(errors))),
            FieldGroup::new(
                "charges",
                "Premium and tax",
                self.charge_fields().map(|field| field.optional().with(errors)),
            ),
        ]
    }

    fn end_fields(&self) -> [FormField; 3] {
        let text = FormField::text;
        [
            text("staggerSeconds", "Seconds between ends", &self.stagger_seconds).hint("Empty: all lots end together."),
            text("staggerItems", "Lots that end together", &self.stagger_items),
            text("extensionSeconds", "Soft close, seconds", &self.extension_seconds)
                .hint("A bid in the last seconds extends the end by as many. Empty: off."),
        ]
    }

    fn bidding_fields(&self) -> [FormField; 3] {
        let internet = [InternetBids::WaitForClerk, InternetBids::AcceptedAtOnce].map(|own| {
            let words = if own == InternetBids::WaitForClerk { "Wait for the clerk" } else { "Accepted at once" };
            Choice::of(internet_bids_name(own), words, &self.internet_bids)
        });
        let admissions = Admission::ALL.map(|own| {
            let words = if own == Admission::Required { "Approved bidders only" } else { "Any bidder" };
            Choice::of(own.as_str(), words, &self.registration)
        });
        let hint = "One line for each row: the price from which it applies, a colon, the increment. The first row begins at 0.";
        [
            FormField::select("registration", "Who may bid", admissions.into())
                .hint("Fixed once the sale is live or has a bid."),
            FormField::select("internetBids", "Internet bids in a webcast", internet.into()),
            FormField::area("increments", "Increments", &self.increments).optional().hint(hint),
        ]
    }

    fn charge_fields(&self) -> [FormField; 3] {
        let text = FormField::text;
        [
            text("premium", "Buyer's premium, %", &self.premium),
            text("hammerTax", "Tax on the hammer price, %", &self.hammer_tax),
            text("premiumTax", "Tax on the premium, %", &self.premium_tax),
        ]
    }

    /// A new auction of the entered values. A value that has an error is left out.
    pub(super) fn new_auction(&self, errors: &mut FieldErrors) -> NewAuction {
        let auctioneer = Uuid::try_parse(&self.auctioneer).unwrap_or_else(|_| {
            errors.add("auctioneer", "Choose an auctioneer.");
            Uuid::nil()
        });
        self.require_title(errors);
        let kind = AuctionKind::ALL.into_iter().find(|kind| kind.as_str() == self.kind).unwrap_or(AuctionKind::Timed);
        let terms = self.terms(kind, None, errors);
        let sale_mode = if self.is_sandbox { SaleMode::Sandbox } else { SaleMode::Real };
        let registration = self.admission().unwrap_or_default();
        let new = NewAuction::new(auctioneer, kind, &*self.title, &*self.currency, &*self.time_zone);
        NewAuction {
            starts_at: terms.starts_at.flatten(),
            ends_at: terms.ends_at.flatten(),
            stagger: terms.stagger.flatten(),
            extension_seconds: terms.extension_seconds.flatten(),
            increments: terms.increments,
            charges: terms.charges.unwrap_or_default(),
            internet_bids: terms.internet_bids.unwrap_or_default(),
            registration,
            sale_mode,
            ..new
        }
    }

    /// The edit of an auction to the entered values, without those that have an error. Fields with the present value change
    /// nothing.
    pub(super) fn edit(&self, auction: &Auction, errors: &mut FieldErrors) -> AuctionEdit {
        self.require_title(errors);
        AuctionEdit {
            title: Some(self.title.clone()),
            currency: Some(self.currency.clone()),
            time_zone: Some(self.time_zone.clone()),
            registration: self.admission(),
            ..self.terms(auction.kind, Some(auction), errors)
        }
    }

    fn admission(&self) -> Option<Admission> {
        Admission::ALL.into_iter().find(|own| own.as_str() == self.registration)
    }

    /// A form names the auction, which the API may leave for later.
    fn require_title(&self, errors: &mut FieldErrors) {
        if self.title.is_empty() {
            errors.add("title", "Is empty: write the auction's title.");
        }
    }

    fn terms(&self, kind: AuctionKind, before: Option<&Auction>, errors: &mut FieldErrors) -> AuctionEdit {
        let zone = SaleZone::named(&self.time_zone);
        // Times are read in the zone of this form; they stay exact when neither they nor the zone change.
        let before = before.filter(|auction| auction.time_zone == self.time_zone);
        let mut time = |name: &str, text: &str, before| match zone.parse(text, before) {
            Ok(at) => at,
            Err(wrong) => {
                errors.add(name, wrong);
                None
            }
        };
        let starts_at = time("startsAt", &self.starts_at, before.and_then(|auction| auction.starts_at));
        let ends_at = time("endsAt", &self.ends_at, before.and_then(|auction| auction.ends_at));
        let is_timed = kind == AuctionKind::Timed;
        let seconds = whole("staggerSeconds", &self.stagger_seconds, errors);
        let items = whole("staggerItems", &self.stagger_items, errors);
        let stagger = seconds.filter(|seconds| *seconds > 0);
        let stagger = stagger.map(|seconds| Stagger { seconds, items: items.unwrap_or(1) });
        let extension = whole("extensionSeconds", &self.extension_seconds, errors);
        let mut rate = |name: &str, text: &str| match percent::parse(if text.is_empty() { "0" } else { text }) {
            Ok(points) => points,
            Err(wrong) => {
                errors.add(name, wrong);
                0
            }
        };
        let charges = Charges {
            premium_basis_points: rate("premium", &self.premium),
            hammer_tax_basis_points: rate("hammerTax", &self.hammer_tax),
            premium_tax_basis_points: rate("premiumTax", &self.premium_tax),
        };
        let increments = match increments(&self.increments, &Currency::new(&self.currency)) {
            Ok(table) => table,
            Err(wrong) => {
                errors.add("increments", wrong);
                None
            }
        };
        let at_once = !is_timed && self.internet_bids == internet_bids_name(InternetBids::AcceptedAtOnce);
        AuctionEdit {
            starts_at: Some(starts_at),
            ends_at: Some(ends_at),
            // They mean nothing for a webcast, which the API gives the defaults of a timed auction.
            stagger: is_timed.then_some(stagger),
            extension_seconds: is_timed.then_some(extension.filter(|seconds| *seconds > 0)),
            increments,
            charges: Some(charges),
            internet_bids: Some(if at_once { InternetBids::AcceptedAtOnce } else { InternetBids::WaitForClerk }),
            ..AuctionEdit::default()
        }
    }
}

fn whole(name: &str, text: &str, errors: &mut FieldErrors) -> Option<u32> {
    if text.is_empty() {
        return None;
    }
    let number = text.parse();
    if number.is_err() {
        errors.add(name, "Write a whole number.");
    }
    number.ok()
}

fn internet_bids_name(own: InternetBids) -> &'static str {
    match own {
        InternetBids::WaitForClerk => "wait_for_clerk",
        InternetBids::AcceptedAtOnce => "accepted_at_once",
    }
}

fn increments_text(table: &IncrementTable, currency: &Currency) -> String {
    let line = |row: &IncrementRow| format!("{}: {}", currency.plain(row.from), currency.plain(row.increment));
    table.rows().iter().map(line).collect::<Vec<_>>().join("\n")
}

/// Reads the rows of an increment table; none for an empty text, which keeps the default.
fn increments(text: &str, currency: &Currency) -> Result<Option<IncrementTable>, String> {
    let mut rows = Vec::new();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let (from, increment) =
            line.split_once(':').ok_or_else(|| format!("“{line:.40}” has no colon. Write it such as 100: 10."))?;
        rows.push(IncrementRow { from: currency.parse(from)?, increment: currency.parse(increment)? });
    }
    if rows.is_empty() {
        return Ok(None);
    }
    IncrementTable::new(rows).map(Some).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_increment_table_is_written_and_read_in_the_currency() {
        let pounds = Currency::new("GBP");
        let text = increments_text(&IncrementTable::default(), &pounds);
        assert!(text.starts_with("0: 1\n20: 2\n"), "{text}");
        assert_eq!(increments(&text, &pounds), Ok(Some(IncrementTable::default())));
        assert_eq!(increments(" \n", &pounds), Ok(None));
        assert!(increments("0 1", &pounds).is_err());
        assert!(increments("10: 1", &pounds).is_err(), "the first row begins at 0");
    }
}

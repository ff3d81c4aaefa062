//! Links that open a screen of a webcast on a device without a sign-in, and the exchange rates of the room screen.
//!
//! Guarantees:
//! - A webcast has at most one link of each kind. The platform shows its token once and stores a hash of it.
//! - A link ends at its expiry, when it is revoked or replaced, and when the sale has ended, whichever is first. Every
//!   node knows within a second, because each use reads the store.
//! - A link whose maker lost their access is replaced or ended with the same change. The replaced one opens the screen until
//!   the new one does, for at most an hour.
//! - A link reads one screen of one webcast; it gives no command. It shows the reserve and the commission book only if that
//!   was chosen for this link.

use std::net::IpAddr;

use contract::models::CurrencyCode;
use jiff::civil::Date;
use jiff::{SignedDuration, Timestamp};
use kit_identity::token_hash;
use kit_runtime::vault::Secret;
use platform_rules::{Auction, AuctionKind, Rejection};
use uuid::Uuid;

use crate::access::access_log::AccessEvent;
use crate::error::{PlatformError, PlatformResult, Problem};
use crate::port::{AccessChange, GuideRate, ScreenKind, ScreenLink};
use crate::steps::screen_links::takes_screens;
use crate::{Caller, Platform, Scope};

/// Exchange rates of an auction, at most.
pub const GUIDE_RATES_MAX: usize = 8;
/// Largest and smallest rate, in millionths.
const MILLIONTHS: std::ops::RangeInclusive<i64> = 1..=1_000_000_000_000;
const TOKEN_BYTES_MAX: usize = 100;
/// A use is recorded when the last recorded one is at least this old.
const USE_RECORDED_EVERY: SignedDuration = SignedDuration::from_secs(60);

/// For how long a new link is valid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScreenLinkValidity {
    /// 12 hours.
    Hours12,
    /// 24 hours.
    Hours24,
    /// 3 days.
    Days3,
    /// Until the sale has ended, at most 90 days.
    Sale,
}

impl ScreenLinkValidity {
    /// All of them, the shortest first.
    pub const ALL: [Self; 4] = [Self::Hours12, Self::Hours24, Self::Days3, Self::Sale];

    /// The name in forms.
    pub fn name(self) -> &'static str {
        match self {
            Self::Hours12 => "12h",
            Self::Hours24 => "24h",
            Self::Days3 => "3d",
            Self::Sale => "sale",
        }
    }

    /// The validity of that name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.name() == name)
    }

    fn duration(self) -> SignedDuration {
        SignedDuration::from_hours(match self {
            Self::Hours12 => 12,
            Self::Hours24 => 24,
            Self::Days3 => 3 * 24,
            Self::Sale => 90 * 24,
        })
    }
}

/// How a new link to a screen is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScreenLinkOptions {
    /// For how long it is valid.
    pub validity: ScreenLinkValidity,
    /// The speaker's view shows the reserve and the commission book. The room screen never does.
    pub shows_reserve: bool,
}

/// A new link. The platform does not show its token again.
#[derive(Debug)]
pub struct NewScreenLink {
    /// The link.
    pub link: ScreenLink,
    /// The token.
    pub token: Secret,
}

/// Why a link opens no screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScreenLinkEnd {
    /// It was revoked or replaced, or never existed.
    Revoked,
    /// It has expired.
    Expired,
    /// The sale has ended.
    SaleEnded,
}

/// A screen that a link opens.
#[derive(Debug, Clone)]
pub struct OpenScreen {
    /// The link.
    pub link: ScreenLink,
    /// Whom use cases that read the webcast are called with.
    pub caller: Caller,
}

impl Platform {
    /// The links of a webcast, without those that have expired. Needs `ring:write`.
    ///
    /// Errors: `forbidden`, `not_found`, `clerk_not_assigned`.
    pub async fn screen_links(&self, caller: &Caller, auction: Uuid) -> PlatformResult<Vec<ScreenLink>> {
        self.with_screens(caller, auction).await?;
        let now = self.now();
        let links = self.store().screen_links(auction).await?;
        Ok(links.into_iter().filter(|link| link.expires_at > now).collect())
    }

    /// Creates the link to a screen, in place of an earlier one. Needs `ring:write`.
    ///
    /// Errors: `forbidden`, `not_found`, `clerk_not_assigned`, `auction_closed` (the sale has ended).
    pub async fn create_screen_link(
        &self,
        caller: &Caller,
        auction: Uuid,
        kind: ScreenKind,
        options: ScreenLinkOptions,
    ) -> PlatformResult<NewScreenLink> {
        let webcast = self.with_screens(caller, auction).await?;
        if !takes_screens(&webcast) {
            return Err(Rejection::AuctionClosed { status: webcast.status.name() }.into());
        }
        // The room screen never shows a reserve.
        let shows_reserve = options.shows_reserve && kind == ScreenKind::Speaker;
        let now = self.now();
        let expires_at = now
            .checked_add(options.validity.duration())
            .map_err(|error| PlatformError::Internal(format!("a link to a screen has no expiry: {error}")))?;
        let token = self.new_screen_token();
        let link = ScreenLink {
            uuid: self.ids().uuid_v7(),
            auction,
            kind,
            shows_reserve,
            hash: token_hash(&token),
            created_at: now,
            created_by: caller.actor.clone(),
            expires_at,
            last_used_at: None,
            predecessor: None,
        };
        let event = AccessEvent::ScreenLinkCreated {
            auction,
            link: link.uuid,
            kind: kind.name().to_owned(),
            expires_at,
            shows_reserve,
        };
        let note = self.note(caller, event)?;
        self.store().apply_access_change(AccessChange::PutScreenLink(link.clone()), note).await?;
        tracing::info!(auction_id = %auction, kind = kind.name(), by = caller.actor, "a link to a screen was created");
        Ok(NewScreenLink { link, token: Secret::new(token.into_bytes()) })
    }

    /// Revokes the link to a screen. Repeating it changes nothing. Needs `ring:write`.
    ///
    /// Errors: `forbidden`, `not_found`, `clerk_not_assigned`.
    pub async fn revoke_screen_link(&self, caller: &Caller, auction: Uuid, kind: ScreenKind) -> PlatformResult<()> {
        self.with_screens(caller, auction).await?;
        let note = self.note(caller, AccessEvent::ScreenLinkRevoked { auction, kind: kind.name().to_owned() })?;
        let change = AccessChange::RevokeScreenLink(auction, kind);
        if self.store().apply_access_change(change, note).await?.is_recorded() {
            tracing::info!(auction_id = %auction, kind = kind.name(), by = caller.actor, "a link to a screen was revoked");
        }
        Ok(())
    }

    /// The screen that a token opens, for a visitor who just followed the link: it takes one of the address's attempts,
    /// and returns it when the token is right.
    ///
    /// Errors: `too_many_attempts`.
    pub async fn follow_screen_link(
        &self,
        token: &str,
        from: Option<IpAddr>,
    ) -> PlatformResult<Result<OpenScreen, ScreenLinkEnd>> {
        let taken = self.take_attempt_at_link(from).await?;
        let opened = self.open_screen(token).await?;
        if opened.is_ok() {
            self.return_attempt_at_link(taken).await?;
        }
        Ok(opened)
    }

    /// The screen that a token opens. It records the use, to within a minute.
    pub async fn open_screen(&self, token: &str) -> PlatformResult<Result<OpenScreen, ScreenLinkEnd>> {
        let hash = token_hash(Some(token).filter(|token| token.len() <= TOKEN_BYTES_MAX).unwrap_or_default());
        let Some(link) = self.store().screen_link_by_hash(hash).await? else { return Ok(Err(ScreenLinkEnd::Revoked)) };
        let now = self.now();
        if link.expires_at <= now {
            return Ok(Err(ScreenLinkEnd::Expired));
        }
        let webcast = self.store().auction(link.auction).await?.ok_or(PlatformError::NotFound("auction"))?;
        if !takes_screens(&webcast) {
            return Ok(Err(ScreenLinkEnd::SaleEnded));
        }
        let is_predecessor = link.hash != hash;
        if is_predecessor && link.predecessor.as_ref().is_none_or(|replaced| replaced.until <= now) {
            return Ok(Err(ScreenLinkEnd::Revoked));
        }
        if !is_predecessor && link.last_used_at.is_none_or(|at: Timestamp| now.duration_since(at) >= USE_RECORDED_EVERY)
        {
            self.store().touch_screen_link(hash, now).await?;
        }
        let scopes = match link.kind {
            ScreenKind::Room => [Scope::AuctionsRead].into_iter().collect(),
            // The speaker sees what only the desk shows: waiting bids, and whether the book bids.
            ScreenKind::Speaker => [Scope::AuctionsRead, Scope::RingWrite].into_iter().collect(),
        };
        let caller = Caller {
            actor: format!("screen:{}", link.uuid),
            id: link.uuid,
            session: None,
            role: None,
            customer: Some(webcast.customer),
            scopes,
        };
        Ok(Ok(OpenScreen { link, caller }))
    }

    /// The exchange rates of the room screen, by currency.
    ///
    /// Errors: `forbidden`, `not_found`.
    pub async fn guide_rates(&self, caller: &Caller, auction: Uuid) -> PlatformResult<Vec<GuideRate>> {
        caller.require_one_of(&[Scope::AuctionsRead, Scope::RingWrite])?;
        self.visible_auction(caller, auction).await?;
        Ok(self.store().guide_rates(auction).await?)
    }

    /// Enters or replaces the exchange rate of a currency. `rate` is the other currency for one unit of the auction's.
    /// Needs `ring:write`.
    ///
    /// Errors: `forbidden`, `not_found`, `clerk_not_assigned`, `invalid`.
    pub async fn put_guide_rate(
        &self,
        caller: &Caller,
        auction: Uuid,
        currency: &str,
        rate: &str,
        date: &str,
    ) -> PlatformResult<()> {
        let webcast = self.with_screens(caller, auction).await?;
        let code = currency.trim().to_uppercase();
        let (millionths, day) = (parse_rate(rate), date.trim().parse::<Date>().ok());
        let mut problems = Vec::new();
        if code.parse::<CurrencyCode>().is_err() {
            problems
                .push(Problem::new("/currency", "is not a currency of ISO 4217: write its three letters, such as USD"));
        } else if code == webcast.currency {
            problems.push(Problem::new("/currency", "is the currency of the sale: enter another one"));
        }
        if millionths.is_none() {
            let text = "is not a rate: write a number above 0 with at most 6 decimals, such as 1.2734";
            problems.push(Problem::new("/rate", text));
        }
        if day.is_none() {
            problems.push(Problem::new("/date", "is not a day: write year, month and day, such as 2026-11-25"));
        }
        let (Some(millionths), Some(date), []) = (millionths, day, &problems[..]) else {
            return Err(PlatformError::Invalid(problems));
        };
        let put = GuideRate { currency: code.clone(), millionths, date };
        if !self.store().put_guide_rate(auction, put, GUIDE_RATES_MAX).await? {
            let text = format!("is one too many: a sale has at most {GUIDE_RATES_MAX} rates, so remove one first");
            return Err(PlatformError::invalid("/currency", text));
        }
        tracing::info!(auction_id = %auction, currency = code, by = caller.actor, "an exchange rate was entered");
        Ok(())
    }

    /// Removes the exchange rate of a currency. Repeating it changes nothing. Needs `ring:write`.
    ///
    /// Errors: `forbidden`, `not_found`, `clerk_not_assigned`.
    pub async fn remove_guide_rate(&self, caller: &Caller, auction: Uuid, currency: &str) -> PlatformResult<()> {
        self.with_screens(caller, auction).await?;
        if self.store().remove_guide_rate(auction, currency).await? {
            tracing::info!(auction_id = %auction, currency, by = caller.actor, "an exchange rate was removed");
        }
        Ok(())
    }

    /// The webcast, for callers who may set up its screens.
    async fn with_screens(&self, caller: &Caller, auction: Uuid) -> PlatformResult<Auction> {
        caller.require(Scope::RingWrite)?;
        let webcast = self.visible_auction(caller, auction).await?;
        self.require_clerk(caller, &webcast).await?;
        if webcast.kind != AuctionKind::Webcast {
            return Err(Rejection::WrongAuctionKind { needs: AuctionKind::Webcast }.into());
        }
        Ok(webcast)
    }
}

/// A rate in millionths. Commas are not decimal points here, because `1,273` would mean two things.
fn parse_rate(text: &str) -> Option<i64> {
    let (whole, fraction) = text.trim().split_once('.').unwrap_or((text.trim(), "0"));
    let are_digits = |part: &str, chars_max| {
        !part.is_empty() && part.len() <= chars_max && part.bytes().all(|byte| byte.is_ascii_digit())
    };
    if !are_digits(whole, 7) || !are_digits(fraction, 6) {
        return None;
    }
    let millionths = format!("{whole}{fraction:0<6}").parse().ok()?;
    MILLIONTHS.contains(&millionths).then_some(millionths)
}

impl GuideRate {
    /// An amount of the auction's currency in this one: both in minor units, rounded half up. From 100 units on it is a
    /// whole number of units, because a guide with cents would look like a price.
    pub fn convert(&self, minor: i64, digits: u32) -> Option<i64> {
        let own_digits = self.currency.parse::<CurrencyCode>().ok()?.minor_digits().unwrap_or(0);
        let unit = 10_i128.checked_pow(own_digits)?;
        let exact = i128::from(minor).checked_mul(self.millionths.into())?.checked_mul(unit)?;
        let divisor = 10_i128.checked_pow(digits)?.checked_mul(1_000_000)?;
        let step = if exact / divisor >= 100 * unit { unit } else { 1 };
        let rounded = (exact + divisor * step / 2).div_euclid(divisor * step) * step;
        i64::try_from(rounded).ok()
    }

    /// The rate for people, such as `1.2734`.
    pub fn text(&self) -> String {
        let text = format!("{}.{:06}", self.millionths / 1_000_000, self.millionths % 1_000_000);
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rate(currency: &str, text: &str) -> GuideRate {
        let date = jiff::civil::date(2026, 11, 25);
        GuideRate { currency: currency.into(), millionths: parse_rate(text).unwrap(), date }
    }

    #[test]
    fn a_rate_is_a_positive_number_with_at_most_six_decimals() {
        for (text, millionths) in [("1.2734", 1_273_400), (" 190 ", 190_000_000), ("0.000001", 1)] {
            assert_eq!(parse_rate(text), Some(millionths), "{text}");
        }
        for text in ["", "0", "-1", "1,27", "1.", ".5", "1.1234567", "1e3", "12345678", "one"] {
            assert_eq!(parse_rate(text), None, "{text}");
        }
        assert_eq!((rate("USD", "1.2734").text(), rate("JPY", "190").text()), ("1.2734".into(), "190".into()));
    }

    #[test]
    fn an_amount_is_rounded_to_what_a_guide_can_say() {
        // £12.50 is US$15.92; £850 is US$1,082 without cents.
        assert_eq!(rate("USD", "1.2734").convert(1_250, 2), Some(1_592));
        assert_eq!(rate("USD", "1.2734").convert(85_000, 2), Some(108_200));
        // Yen have no minor unit, dinars have three digits.
        assert_eq!(rate("JPY", "190.53").convert(1_250, 2), Some(2_382));
        assert_eq!(rate("KWD", "0.39").convert(1_250, 2), Some(4_875));
        assert_eq!(rate("GBP", "0.00525").convert(1_000_000, 0), Some(525_000));
        assert_eq!(rate("USD", "999999.999999").convert(i64::MAX, 0), None);
    }
}

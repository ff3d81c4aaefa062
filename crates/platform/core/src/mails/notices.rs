//! The mail of a notice to a bidder with an account.

use kit_identity::user::plain_email;
use platform_rules::Auction;
use uuid::Uuid;

use super::dates;
use super::template::MailValues;
use super::{Letterhead, MailKind, NewMail, Recipient, is_real};
use crate::Platform;
use crate::amounts::CurrencyFormat;
use crate::error::PlatformResult;
use crate::port::{BidderAccount, Language, Notice, NoticeKind, Registration};

/// Separates signatures of links that end mails from all others.
const PURPOSE: &str = "end mails of a kind";

/// What a link ends: the mails of one kind to one account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EndedMails {
    /// The account.
    pub account: Uuid,
    /// The kind.
    pub kind: NoticeKind,
}

/// The address that mail programs call to end the mails of a page.
pub(super) fn one_click(page: &str) -> String {
    format!("{page}/one-click")
}

impl Notice {
    /// The kind of its mail. None when another mail says the same: the one about the decision.
    pub(crate) fn mail(&self) -> Option<MailKind> {
        match self.kind {
            NoticeKind::Outbid => Some(MailKind::Outbid),
            NoticeKind::Won => Some(MailKind::Won),
            NoticeKind::NotWon => Some(MailKind::NotWon),
            NoticeKind::SaleBegan => Some(MailKind::SaleBegan),
            NoticeKind::LotSoon => Some(MailKind::LotSoon),
            NoticeKind::RegistrationDecided => None,
            NoticeKind::LimitDecided if self.facts.amount.is_some() => Some(MailKind::LimitGranted),
            NoticeKind::LimitDecided => Some(MailKind::LimitDeclined),
            NoticeKind::Message => Some(MailKind::Message),
            NoticeKind::Offer => Some(MailKind::Offer),
        }
    }
}

impl Letterhead {
    /// The first page of the house's saleroom.
    fn house_page(&self) -> Option<String> {
        let base = self.saleroom_base.as_deref()?;
        Some(format!("{base}/{}", self.house.as_ref()?.saleroom.address.as_deref()?))
    }
}

impl Platform {
    /// The mail of a notice, to be committed with it. None when the bidder wants none of this kind.
    pub(crate) async fn notice_mail(
        &self,
        auction: &Auction,
        notice: &Notice,
        account: &BidderAccount,
        registration: &Registration,
    ) -> PlatformResult<Option<NewMail>> {
        let Some(kind) = notice.mail().filter(|_| account.profile.details.wants_mail_about(notice.kind)) else {
            return Ok(None);
        };
        if !self.sends_mail() || !is_real(auction) {
            return Ok(None);
        }
        let letterhead = self.letterhead(auction.customer).await?;
        let Some(house_page) = letterhead.house_page() else { return Ok(None) };
        let page = match notice.item {
            Some(_) if notice.kind == NoticeKind::Won => format!("{house_page}/my-bids"),
            Some(item) => format!("{house_page}/sales/{}/lots/{item}", auction.uuid),
            None if notice.kind == NoticeKind::Message => format!("{house_page}/notices"),
            None if notice.kind == NoticeKind::LimitDecided => format!("{house_page}/sales/{}/register", auction.uuid),
            None => format!("{house_page}/sales/{}", auction.uuid),
        };
        let end_mails = self.end_mails_page(&letterhead, account.id, notice.kind);
        let language = account.profile.details.language.unwrap_or(letterhead.mails().language);
        let recipient = Recipient { registration, party: None };
        let values = MailValues {
            bidder: Some(kit_mail::plain_name(&account.profile.details.name)).filter(|name| !name.is_empty()),
            page: Some(page),
            end_mails: end_mails.clone(),
            ..recipient.values(&self.notice_values(auction, notice, &letterhead, language))
        };
        let rendered = super::default_text(language, kind).render(&values);
        Ok(Some(NewMail {
            uuid: self.ids().uuid_v7(),
            customer: auction.customer,
            auction: auction.uuid,
            registration: registration.uuid,
            party: registration.party,
            kind,
            recipient: plain_email(&account.email),
            subject: rendered.subject,
            text: rendered.text,
            queued_at: self.now(),
            unsubscribe: end_mails.map(|page| one_click(&page)),
        }))
    }

    /// The values of the texts about a notice.
    pub(crate) fn notice_values(
        &self,
        auction: &Auction,
        notice: &Notice,
        letterhead: &Letterhead,
        language: Language,
    ) -> MailValues {
        let shown = |text: &str| Some(kit_mail::plain_title(text)).filter(|text| !text.is_empty());
        let price = |amount| CurrencyFormat::of(&notice.facts.currency).show(amount, language);
        let is_message = notice.kind == NoticeKind::Message;
        MailValues {
            lot: shown(&notice.facts.lot_number),
            // Staff wrote the subject of a message.
            title: if is_message { Some(notice.facts.title.clone()) } else { shown(&notice.facts.title) },
            text: notice.facts.text.clone(),
            price: notice.facts.amount.map(price),
            total: notice.facts.total.map(price),
            until: notice.facts.until.map(|until| dates::show(language, until, &auction.time_zone)),
            ..letterhead.values(auction, language, self.now())
        }
    }

    /// The page of a sale, and the page that ends mails about registrations, for the mail about a decision.
    pub(super) fn notice_pages(
        &self,
        letterhead: &Letterhead,
        auction: &Auction,
        account: &BidderAccount,
    ) -> Option<(String, String)> {
        let end_mails = self.end_mails_page(letterhead, account.id, NoticeKind::RegistrationDecided)?;
        Some((format!("{}/sales/{}", letterhead.house_page()?, auction.uuid), end_mails))
    }

    /// The page that ends the mails of a kind to an account.
    pub(super) fn end_mails_page(&self, letterhead: &Letterhead, account: Uuid, kind: NoticeKind) -> Option<String> {
        let code = self.end_mails_code(EndedMails { account, kind });
        Some(format!("{}/mails/{code}", letterhead.house_page()?))
    }

    /// The open account of the person who registered, at a server with salerooms.
    pub(crate) async fn account_to_tell(&self, registration: &Registration) -> PlatformResult<Option<BidderAccount>> {
        let Some(party) = registration.party.filter(|_| self.config().saleroom_url.is_some()) else { return Ok(None) };
        let records = self.store().records_of_person(party).await?;
        Ok(self.store().bidder_accounts_of(&records).await?.into_iter().next())
    }

    /// The last part of a link that ends mails of a kind. It never expires, and ends nothing else.
    pub(crate) fn end_mails_code(&self, ended: EndedMails) -> String {
        let text = format!("{}.{}", ended.account, ended.kind.name());
        format!("{text}.{}", self.vault().sign(PURPOSE, &text))
    }

    /// What a link ends; none when this installation did not make it.
    pub fn ended_mails(&self, code: &str) -> Option<EndedMails> {
        let (text, signature) = code.rsplit_once('.')?;
        let (account, kind) = text.split_once('.')?;
        let ended = EndedMails { account: Uuid::try_parse(account).ok()?, kind: NoticeKind::parse(kind)? };
        self.vault().is_signature(PURPOSE, text, signature).then_some(ended)
    }
}

//! Makes the notices of what happened.

use contract::ItemStatus;
use jiff::Timestamp;
use platform_rules::{Auction, AuctionKind, Item};
use uuid::Uuid;

use crate::Platform;
use crate::error::PlatformResult;
use crate::port::{
    BidderAccount, CauseOfNotice, NewMail, Notice, NoticeFacts, NoticeKind, NoticeStep, OpenCause, Page, Registration,
    RegistrationStatus, StoreError,
};

/// Causes read at once, and how often in one run.
const CAUSES_MAX: usize = 100;
const READS_MAX: usize = 50;
/// Bidders of one part. Ends and bids may have to wait for its commit.
const PART_MAX: usize = 250;
/// Lots after the one in the ring whose followers receive a notice.
const LOTS_AHEAD: usize = 3;
/// Those who watch one lot and receive a notice of it.
const WATCHERS_MAX: usize = 2_000;
/// A bidder receives at most one mail in this time that they were outbid on a lot.
const OUTBID_MAIL_EVERY: jiff::SignedDuration = jiff::SignedDuration::from_mins(15);
/// Notices about a lot that are looked through for an earlier one.
const EARLIER_MAX: usize = 50;

/// A bidder with an account who bids, or follows a lot.
struct Addressee {
    account: BidderAccount,
    /// None for those who only watch a lot.
    registration: Option<Registration>,
}

/// A notice that is wanted, before its mail is written.
struct Wanted<'a> {
    to: Addressee,
    kind: NoticeKind,
    item: Option<&'a Item>,
    amount: Option<i64>,
    decision: Option<String>,
    text: Option<String>,
    /// Subject of a message.
    subject: Option<String>,
    /// The price of an offer with premium and taxes, and the time before which the bidder can answer.
    offer: Option<(i64, Timestamp)>,
}

/// Those who receive a part of a message, the place at which the next part begins, and mails to bidders without an account.
type MessagePart = (Vec<Wanted<'static>>, Option<String>, Vec<(NewMail, i64)>);
/// The addressees of a part, and the place at which the next part begins.
type Part<'a> = (Vec<Wanted<'a>>, Option<String>);

impl Platform {
    /// Makes the notices of everything that happened. One that can't be made keeps no later one waiting; the next run tries it again.
    ///
    /// Errors: the first one.
    pub async fn make_notices(&self) -> PlatformResult<()> {
        let mut made = Ok(());
        for _ in 0..READS_MAX {
            let open = self.store().open_causes(CAUSES_MAX).await?;
            let is_last = open.len() < CAUSES_MAX;
            for cause in open {
                made = made.and(self.make_notices_of(cause).await);
            }
            if is_last || made.is_err() {
                break;
            }
        }
        made
    }

    async fn make_notices_of(&self, mut cause: OpenCause) -> PlatformResult<()> {
        loop {
            let step = self.next_step(&cause).await?;
            let through = step.through.clone();
            let has_mails = !step.mails.is_empty() || step.notices.iter().any(|(_, mail)| mail.is_some());
            match self.store().make_notices(step).await {
                Ok(()) => {
                    self.notices_made().notify();
                    if has_mails {
                        self.mails_queued().notify();
                    }
                }
                // Another node makes them.
                Err(StoreError::Conflict) => return Ok(()),
                Err(error) => return Err(error.into()),
            }
            match through {
                Some(through) => cause.through = through,
                None => return Ok(()),
            }
        }
    }

    async fn next_step(&self, cause: &OpenCause) -> PlatformResult<NoticeStep> {
        let done = NoticeStep { cause: cause.clone(), through: None, notices: Vec::new(), mails: Vec::new() };
        let Some(auction) = self.store().auction(cause.cause.auction).await? else { return Ok(done) };
        let item = match &cause.cause.what {
            CauseOfNotice::Outbid { item, .. }
            | CauseOfNotice::LotEnded { item }
            | CauseOfNotice::Offered { item, .. }
            | CauseOfNotice::LotInRing { item } => match self.store().item(*item).await? {
                None => return Ok(done),
                found => found,
            },
            CauseOfNotice::SaleBegan
            | CauseOfNotice::RegistrationDecided { .. }
            | CauseOfNotice::LimitDecided { .. }
            | CauseOfNotice::Message { .. } => None,
        };
        let coming = match (&cause.cause.what, &item) {
            (CauseOfNotice::LotInRing { .. }, Some(item)) => self.lots_after(&auction, item).await?,
            _ => Vec::new(),
        };
        let mut mails = Vec::new();
        let (wanted, through) = match (&cause.cause.what, &item) {
            (CauseOfNotice::Outbid { paddle, .. }, Some(item)) => (self.outbid(&auction, item, paddle).await?, None),
            (CauseOfNotice::LotEnded { .. }, Some(item)) => self.lot_ended(&auction, item, &cause.through).await?,
            (CauseOfNotice::LotInRing { .. }, Some(_)) => (self.lots_soon(&auction, &coming).await?, None),
            (CauseOfNotice::Offered { offer, .. }, Some(item)) => (self.offered(&auction, item, *offer).await?, None),
            (CauseOfNotice::SaleBegan, _) => self.sale_began(&auction, cause).await?,
            (CauseOfNotice::RegistrationDecided { registration }, _) => (self.decided(*registration).await?, None),
            (CauseOfNotice::LimitDecided { registration, granted, reason }, _) => {
                (self.limit_decided(*registration, *granted, reason.as_deref()).await?, None)
            }
            (CauseOfNotice::Message { message }, _) => {
                let (wanted, through, without_account) = self.message(&auction, *message, &cause.through).await?;
                mails = without_account;
                (wanted, through)
            }
            (_, None) => (Vec::new(), None),
        };
        let mut notices = Vec::new();
        for wanted in wanted {
            notices.extend(self.notice(&auction, wanted).await?);
        }
        Ok(NoticeStep { through, notices, mails, ..done })
    }

    async fn outbid<'a>(&self, auction: &Auction, item: &'a Item, paddle: &str) -> PlatformResult<Vec<Wanted<'a>>> {
        let leads = item.standing.as_ref().is_some_and(|leads| leads.bidder == paddle);
        if leads || item.status != ItemStatus::Live {
            return Ok(Vec::new());
        }
        let to = self.addressee_with(auction, paddle).await?;
        let amount = item.standing.as_ref().map(|leads| leads.amount);
        let wanted = |to| Wanted {
            to,
            kind: NoticeKind::Outbid,
            item: Some(item),
            amount,
            decision: None,
            text: None,
            subject: None,
            offer: None,
        };
        Ok(to.into_iter().map(wanted).collect())
    }

    async fn lot_ended<'a>(&self, auction: &Auction, item: &'a Item, after: &str) -> PlatformResult<Part<'a>> {
        let is_sold = matches!(item.status, ItemStatus::Sold | ItemStatus::SoldBuyNow);
        if !is_sold && !matches!(item.status, ItemStatus::Unsold | ItemStatus::Passed) {
            return Ok((Vec::new(), None));
        }
        let buyer = item.standing.as_ref().filter(|_| is_sold);
        let mut paddles = self.store().paddles_on(item.uuid, after, PART_MAX).await?;
        let next = paddles.last().filter(|_| paddles.len() == PART_MAX).cloned();
        // A buyer whom staff entered has no bid of their own.
        if let Some(buyer) = buyer.filter(|buyer| after.is_empty() && !paddles.contains(&buyer.bidder)) {
            paddles.push(buyer.bidder.clone());
        }
        let mut wanted = Vec::new();
        for paddle in paddles {
            let Some(to) = self.addressee_with(auction, &paddle).await? else { continue };
            let kind =
                if buyer.is_some_and(|buyer| buyer.bidder == paddle) { NoticeKind::Won } else { NoticeKind::NotWon };
            wanted.push(Wanted {
                to,
                kind,
                item: Some(item),
                amount: buyer.map(|buyer| buyer.amount),
                decision: None,
                text: None,
                subject: None,
                offer: None,
            });
        }
        Ok((wanted, next))
    }

    /// The lots that come next after one in the ring.
    async fn lots_after(&self, auction: &Auction, item: &Item) -> PlatformResult<Vec<Item>> {
        let page = Page { after: Some(item.position), limit: LOTS_AHEAD };
        Ok(self.store().items_with_status(auction.uuid, &[ItemStatus::Live], page).await?)
    }

    async fn lots_soon<'a>(&self, auction: &Auction, coming: &'a [Item]) -> PlatformResult<Vec<Wanted<'a>>> {
        let mut wanted = Vec::new();
        for item in coming {
            let mut followers: Vec<Addressee> = Vec::new();
            for paddle in self.store().paddles_on(item.uuid, "", PART_MAX).await? {
                followers.extend(self.addressee_with(auction, &paddle).await?);
            }
            for account in self.store().accounts_watching(item.uuid, Uuid::nil(), WATCHERS_MAX).await? {
                if followers.iter().all(|follower| follower.account.id != account) {
                    followers.extend(self.addressee_of(auction, account).await?);
                }
            }
            for to in followers {
                let earlier = self.store().notices_about(to.account.id, item.uuid, EARLIER_MAX).await?;
                if earlier.iter().all(|notice| notice.kind != NoticeKind::LotSoon) {
                    wanted.push(Wanted {
                        to,
                        kind: NoticeKind::LotSoon,
                        item: Some(item),
                        amount: None,
                        decision: None,
                        text: None,
                        subject: None,
                        offer: None,
                    });
                }
            }
        }
        Ok(wanted)
    }

    /// Those who registered later know that the sale has begun.
    async fn sale_began(&self, auction: &Auction, cause: &OpenCause) -> PlatformResult<Part<'static>> {
        let page = Page { after: Uuid::try_parse(&cause.through).ok(), limit: PART_MAX };
        let approved = [RegistrationStatus::Approved];
        let registrations = self.store().registrations_with_status(auction.uuid, &approved, page).await?;
        let next = registrations.last().filter(|_| registrations.len() == PART_MAX);
        let next = next.map(|registration| registration.uuid.to_string());
        let mut wanted = Vec::new();
        let earlier = registrations.into_iter().filter(|registration| registration.created_at <= cause.cause.at);
        for registration in earlier {
            let to = self.addressee(registration).await?;
            wanted.extend(to.map(|to| Wanted {
                to,
                kind: NoticeKind::SaleBegan,
                item: None,
                amount: None,
                decision: None,
                text: None,
                subject: None,
                offer: None,
            }));
        }
        Ok((wanted, next))
    }

    async fn decided(&self, registration: Uuid) -> PlatformResult<Vec<Wanted<'static>>> {
        let Some(registration) = self.store().registration(registration).await? else { return Ok(Vec::new()) };
        let decision = Some(registration.status.as_str().to_owned());
        let to = self.addressee(registration).await?;
        let kind = NoticeKind::RegistrationDecided;
        Ok(to
            .into_iter()
            .map(|to| Wanted {
                to,
                kind,
                item: None,
                amount: None,
                decision: decision.clone(),
                text: None,
                subject: None,
                offer: None,
            })
            .collect())
    }

    async fn limit_decided(
        &self,
        registration: Uuid,
        granted: Option<i64>,
        reason: Option<&str>,
    ) -> PlatformResult<Vec<Wanted<'static>>> {
        let Some(registration) = self.store().registration(registration).await? else { return Ok(Vec::new()) };
        let to = self.addressee(registration).await?;
        let wanted = |to| Wanted {
            to,
            kind: NoticeKind::LimitDecided,
            item: None,
            amount: granted,
            decision: Some(if granted.is_some() { "granted" } else { "declined" }.to_owned()),
            text: reason.map(str::to_owned),
            subject: None,
            offer: None,
        };
        Ok(to.into_iter().map(wanted).collect())
    }

    /// The bidder to whom a lot is offered. An offer that has ended by now is no news.
    async fn offered<'a>(&self, auction: &Auction, item: &'a Item, offer: Uuid) -> PlatformResult<Vec<Wanted<'a>>> {
        let offer = self.store().lot_offer(offer).await?;
        let offer = offer.filter(|offer| offer.ended.is_none() && self.now() < offer.until);
        let Some(offer) = offer else { return Ok(Vec::new()) };
        let Some(registration) = self.store().registration(offer.registration).await? else { return Ok(Vec::new()) };
        let to = self.addressee(registration).await?;
        let wanted = |to| Wanted {
            to,
            kind: NoticeKind::Offer,
            item: Some(item),
            amount: Some(offer.amount),
            decision: None,
            text: None,
            subject: None,
            offer: Some((auction.charges.on(offer.amount).total, offer.until)),
        };
        Ok(to.into_iter().map(wanted).collect())
    }

    /// The next bidders of a message: notices to those with an account, mails to the others who have an address.
    async fn message(&self, auction: &Auction, message: Uuid, after: &str) -> PlatformResult<MessagePart> {
        let Some(message) = self.store().bidder_message(message).await? else { return Ok(MessagePart::default()) };
        let (registrations, next) = match message.registration {
            Some(one) => (self.store().registration(one).await?.into_iter().collect(), None),
            None => {
                let page = Page { after: Uuid::try_parse(after).ok(), limit: PART_MAX };
                let approved = [RegistrationStatus::Approved];
                let found = self.store().registrations_with_status(auction.uuid, &approved, page).await?;
                let next = found.last().filter(|_| found.len() == PART_MAX).map(|last| last.uuid.to_string());
                (found, next)
            }
        };
        let (mut wanted, mut mails) = (Vec::new(), Vec::new());
        for registration in registrations {
            match self.addressee(registration.clone()).await? {
                Some(to) => wanted.push(Wanted {
                    to,
                    kind: NoticeKind::Message,
                    item: None,
                    amount: None,
                    decision: None,
                    text: Some(message.text.clone()),
                    subject: Some(message.subject.clone()),
                    offer: None,
                }),
                None => {
                    let mail = self.message_mail(auction, &message, &registration).await?;
                    mails.extend(mail.map(|mail| (mail, registration.version)));
                }
            }
        }
        Ok((wanted, next, mails))
    }

    /// The bidder with this paddle, if they have an account.
    async fn addressee_with(&self, auction: &Auction, paddle: &str) -> PlatformResult<Option<Addressee>> {
        match self.store().registration_by_paddle(auction.uuid, paddle).await? {
            Some(registration) => self.addressee(registration).await,
            None => Ok(None),
        }
    }

    /// The bidder of a registration, if they have an account.
    async fn addressee(&self, registration: Registration) -> PlatformResult<Option<Addressee>> {
        let account = self.account_to_tell(&registration).await?;
        Ok(account.map(|account| Addressee { account, registration: Some(registration) }))
    }

    /// The bidder with this account, and their registration for the auction.
    async fn addressee_of(&self, auction: &Auction, account: Uuid) -> PlatformResult<Option<Addressee>> {
        let account = self.store().bidder_account(account).await?;
        let Some(account) = account.filter(|account| account.disabled_at.is_none()) else { return Ok(None) };
        let registration = match account.profile.party {
            Some(party) => self.store().registration_of_party(auction.uuid, party).await?,
            None => None,
        };
        Ok(Some(Addressee { account, registration }))
    }

    /// The notice with its mail. None when the bidder knows already, from an earlier notice.
    async fn notice(&self, auction: &Auction, wanted: Wanted<'_>) -> PlatformResult<Option<(Notice, Option<NewMail>)>> {
        let Wanted { to, kind, item, amount, decision, text, subject, offer } = wanted;
        let (total, until) = offer.unzip();
        let account = to.account.id;
        let earlier = match item {
            Some(item) => self.store().notices_about(account, item.uuid, EARLIER_MAX).await?,
            None => Vec::new(),
        };
        let is_result = |kind| matches!(kind, NoticeKind::Won | NoticeKind::NotWon);
        let is_about = |notice: &&Notice| notice.kind == kind || (is_result(kind) && is_result(notice.kind));
        let known = earlier.iter().find(is_about);
        let is_same = |known: &Notice| (known.kind, known.facts.amount, known.facts.until) == (kind, amount, until);
        if known.is_some_and(is_same) {
            return Ok(None);
        }
        let facts = NoticeFacts {
            sale: auction.shown_title().to_owned(),
            lot_number: item.map(|item| item.lot_number.clone()).unwrap_or_default(),
            title: item.map(|item| item.title.clone()).or(subject).unwrap_or_default(),
            currency: auction.currency.clone(),
            time_zone: auction.time_zone.clone(),
            amount,
            total: total.filter(|total| Some(*total) != amount),
            until,
            decision,
            text,
        };
        let now = self.now();
        let was_mailed = |notice: &Notice| {
            notice.kind == kind && notice.is_mailed && now.duration_since(notice.at) < OUTBID_MAIL_EVERY
        };
        let is_repeated = kind == NoticeKind::Outbid && earlier.iter().any(was_mailed);
        let mut notice = Notice {
            uuid: self.ids().uuid_v7(),
            account,
            auction: auction.uuid,
            item: item.map(|item| item.uuid),
            kind,
            facts,
            at: now,
            seen_at: None,
            is_mailed: false,
        };
        // What happens in a ring is over before a mail is read.
        let is_late = auction.kind == AuctionKind::Webcast && kind == NoticeKind::Outbid;
        let mail = match to.registration.filter(|_| !is_repeated && !is_late) {
            Some(registration) => self.notice_mail(auction, &notice, &to.account, &registration).await?,
            None => None,
        };
        notice.is_mailed = mail.is_some();
        Ok(Some((notice, mail)))
    }
}

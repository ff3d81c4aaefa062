//! The house of a request: the first part of the path names its saleroom.

use std::net::IpAddr;

use axum::extract::{FromRequestParts, RawPathParams};
use http::request::Parts;
use kit_design::cookie::Cookie;
use kit_design::error_page::ErrorPage;
use kit_design::frame::Frame;
use kit_design::theme;
use kit_runtime::vault::Secret;
use platform_core::Platform;
use platform_core::saleroom::{RegistrationRule, Saleroom, SignedInBidder};
use platform_core::users::Client;
use platform_words::{SaleZone, Words, key};
use uuid::Uuid;

use crate::hosts;
use crate::language::{self, LanguageLink};
use crate::notices::NewNotices;
use crate::page_error::PageError;
use crate::site::SaleroomSite;
use crate::structured::Facts;

/// Seconds after which a visitor of a closed saleroom may look again.
const CLOSED_RETRY_S: u64 = 600;

/// Purposes of cookies.
const SESSION: &str = "bidder";
const DEVICE: &str = "device";

/// The open saleroom that a request asks for, and the identifiers in its path: for answers that are the same for everyone, such as
/// images and streams.
pub(crate) struct OpenHouse<const N: usize> {
    pub(crate) site: SaleroomSite,
    pub(crate) saleroom: Saleroom,
    pub(crate) ids: [Uuid; N],
}

/// The same for a page, with who reads it.
pub(crate) struct House<const N: usize> {
    pub(crate) site: SaleroomSite,
    pub(crate) saleroom: Saleroom,
    pub(crate) ids: [Uuid; N],
    /// The bidder who is signed in.
    pub(crate) bidder: Option<SignedInBidder>,
    /// The texts of the page.
    pub(crate) words: Words,
    /// The browser.
    pub(crate) client: Client,
    /// The bidder's notices that are new.
    pub(crate) notices: NewNotices,
}

/// What every page of a house shows around its content.
pub(crate) struct HouseFrame {
    pub(crate) frame: Frame,
    /// Path of the pages of the house.
    pub(crate) path: String,
    pub(crate) logo: Option<Logo>,
    /// How to reach the house, such as an e-mail address and a telephone number.
    pub(crate) contact: Vec<String>,
    /// The address under which search engines know the page.
    pub(crate) canonical: String,
    /// One sentence about the page, for search engines and messengers.
    pub(crate) description: String,
    /// Bidders have accounts at this house.
    pub(crate) has_accounts: bool,
    /// A bidder is signed in.
    pub(crate) is_signed_in: bool,
    /// The bidder's notices that are new.
    pub(crate) notices: NewNotices,
    /// The key with which browsers allow notices; empty without one.
    pub(crate) push_key: String,
    /// The whole address of a picture of the page, for messengers.
    pub(crate) image: Option<String>,
    /// The texts of the page.
    pub(crate) words: Words,
    /// Languages among which the visitor chooses; empty without a choice.
    pub(crate) languages: Vec<LanguageLink>,
    /// What search engines may state about the page.
    pub(crate) facts: Option<Facts>,
}

pub(crate) struct Logo {
    pub(crate) address: String,
    pub(crate) width: u32,
    pub(crate) height: u32,
}

impl<const N: usize> OpenHouse<N> {
    pub(crate) fn platform(&self) -> &Platform {
        self.site.platform()
    }
}

impl<const N: usize> House<N> {
    pub(crate) fn platform(&self) -> &Platform {
        self.site.platform()
    }

    /// Path of the pages of the house.
    pub(crate) fn path(&self) -> String {
        let address = self.saleroom.house.saleroom.address.as_deref().unwrap_or_default();
        format!("{}/{address}", self.site.site().base)
    }

    /// The cookie with the bidder's session.
    pub(crate) fn session_cookie(&self) -> Cookie {
        self.site.cookie(SESSION, self.saleroom.house.customer)
    }

    /// The cookie of a browser in which a bidder signed in before.
    pub(crate) fn device_cookie(&self) -> Cookie {
        self.site.cookie(DEVICE, self.saleroom.house.customer)
    }

    /// The bidder's own time zone, or else the house's, for times that are not those of a sale. Where neither has one, that of a sale
    /// which the time has to do with.
    pub(crate) fn zone(&self, of_sale: &str) -> SaleZone {
        let own = self.bidder.as_ref().and_then(|bidder| bidder.account.profile.details.time_zone.as_deref());
        let of_house = self.saleroom.house.profile.time_zone.as_deref();
        self.words.zone_named(own.or(of_house).unwrap_or(of_sale))
    }

    /// The whole address of a path below that of the house.
    pub(crate) fn address(&self, below: &str) -> String {
        self.site.house_address(&self.saleroom, below)
    }

    /// The frame of a page at a path below that of the house.
    pub(crate) fn frame(&self, title: impl Into<String>, below: &str, description: String) -> HouseFrame {
        let Saleroom { name, house, domain: _ } = &self.saleroom;
        let path = self.path();
        let profile = &house.profile;
        let words = self.words;
        let contact = [
            (key("contact-email"), &profile.email),
            (key("contact-telephone"), &profile.phone),
            (key("contact-website"), &profile.website),
        ];
        let theme = house.saleroom.colour.map(theme::path);
        HouseFrame {
            frame: Frame { theme, ..Frame::signed_out(title, self.site.site(), name) },
            logo: house.logo.as_ref().map(|logo| Logo {
                address: format!("{path}/logo/{}", logo.uuid),
                width: logo.width,
                height: logo.height,
            }),
            contact: contact
                .into_iter()
                .filter_map(|(name, value)| Some(words.fill(name, "value", value.as_ref()?)))
                .collect(),
            canonical: self.address(below),
            image: house.logo.as_ref().map(|logo| self.address(&format!("/logo/{}", logo.uuid))),
            facts: None,
            words,
            languages: language::links(house, words),
            path,
            description,
            has_accounts: house.saleroom.registration != RegistrationRule::Closed,
            is_signed_in: self.bidder.is_some(),
            notices: self.notices.clone(),
            push_key: self.platform().push_public_key().filter(|_| self.bidder.is_some()).unwrap_or_default(),
        }
    }
}

impl<const N: usize> FromRequestParts<SaleroomSite> for OpenHouse<N> {
    type Rejection = PageError;

    async fn from_request_parts(parts: &mut Parts, site: &SaleroomSite) -> Result<Self, PageError> {
        let not_found = || PageError::from(ErrorPage::not_found());
        require_open(site)?;
        let params = RawPathParams::from_request_parts(parts, site).await.map_err(|_| not_found())?;
        let mut address = "";
        let mut ids = Vec::new();
        for (name, text) in &params {
            match name {
                "house" => address = text,
                "variant" | "rest" | "code" => {}
                _ => ids.push(Uuid::try_parse(text).map_err(|_| not_found())?),
            }
        }
        if !hosts::may_have(&parts.extensions, address) {
            return Err(not_found());
        }
        let saleroom = site.platform().saleroom(address).await?;
        language::decide(site, &saleroom.house, &parts.headers, None);
        let ids = <[Uuid; N]>::try_from(ids).map_err(|_| not_found())?;
        Ok(Self { site: site.of_request(&parts.extensions), saleroom, ids })
    }
}

impl<const N: usize> FromRequestParts<SaleroomSite> for House<N> {
    type Rejection = PageError;

    async fn from_request_parts(parts: &mut Parts, site: &SaleroomSite) -> Result<Self, PageError> {
        let OpenHouse { site, saleroom, ids } = OpenHouse::from_request_parts(parts, site).await?;
        let customer = saleroom.house.customer;
        let bidder = match site.cookie(SESSION, customer).read(&parts.headers) {
            Some(token) => site.platform().signed_in_bidder(&saleroom, token).await?,
            None => None,
        };
        let of_account = bidder.as_ref().and_then(|bidder| bidder.account.profile.details.language);
        let words = language::decide(&site, &saleroom.house, &parts.headers, of_account);
        let device_token = site.cookie(DEVICE, customer).read(&parts.headers);
        let device_token = device_token.map(|token| Secret::new(token.as_bytes().to_vec()));
        let from: Option<IpAddr> = kit_http::client_ip::resolve(parts, &site.platform().config().trusted_proxies);
        let notices = match &bidder {
            Some(bidder) => NewNotices::of(site.platform().unseen_notices(bidder).await?),
            None => NewNotices::default(),
        };
        let client = Client { from, browser: None, device_token };
        Ok(Self { site, saleroom, ids, bidder, words, client, notices })
    }
}

/// Any path below that of a house that has no page.
pub(crate) async fn missing(_house: OpenHouse<0>) -> PageError {
    ErrorPage::not_found().into()
}

/// 503 of every saleroom of a server that sends no mail: bidders would get neither links to sign in nor notices.
pub(crate) fn require_open(site: &SaleroomSite) -> Result<(), PageError> {
    if site.platform().sends_mail() {
        return Ok(());
    }
    let words = Words::of_request();
    Err(ErrorPage::full(words.of("error-closed-title"), words.of("error-closed"), CLOSED_RETRY_S).into())
}

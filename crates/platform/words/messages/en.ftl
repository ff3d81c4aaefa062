# The texts of the saleroom in English. The other files have the same messages with the same variables.
# CONTRIBUTING.md says how to add a message.

## Around every page
site-name = Saleroom
skip = Skip to the content
optional = (optional)
nothing-saved = Nothing was saved
colours = Colours
colours-system = System
colours-light = Light
colours-dark = Dark
languages = Language
nav-label = Pages of the house
nav-sales = Sales
nav-results = Results
contact-email = E-mail: { $value }
contact-telephone = Telephone: { $value }
contact-website = Web site: { $value }
own-time = Your time: { $time }

## Sales of a house
sales-description = Sales and results of { $house }.
sales-live = Live now
sales-open = Open for bids
sales-ended = Just ended
sales-coming = Coming sales
sales-none-title = No sale is announced
sales-none = The next sale appears here as soon as the house announces it.
sales-past = Results of past sales
sales-past-pages = Pages of past sales
sales-latest = Latest
sales-earlier = Earlier sales
sales-show = Show the sales
timed = Timed auction
timed-from = Timed auction, lots end from { $time }
webcast = Live auction
webcast-from = Live auction, begins { $time }
lots-count = { $n ->
    [0] Lots to be announced
    [one] 1 lot
   *[other] { $n } lots
}

## Catalogue
catalogue-all = All lots
catalogue-to-be-sold = To be sold
catalogue-search = Search { $lots }
catalogue-search-button = Search
catalogue-viewing = Viewing
catalogue-filter = Filter by result
catalogue-category = Category
catalogue-category-any = All categories
catalogue-price-from = Price from
catalogue-price-to = Price to
catalogue-price = Filter by price
catalogue-further = Further filters
catalogue-ends-hour = Ends in the next hour
catalogue-ends-today = Ends today
catalogue-none-title = The lots are not on view yet
catalogue-none = They appear here as soon as the house shows them.
catalogue-no-match-title = No lot matches
catalogue-no-match = No lot of this sale matches the search and the filter.
catalogue-show-all = Show all lots
catalogue-pages = Pages of the catalogue
catalogue-first = First lots
catalogue-next = Next lots
charges = Added to the hammer price: { $rates }
charge-premium = buyer’s premium { $rate }
charge-hammer-tax = tax on the hammer price { $rate }
charge-premium-tax = tax on the premium { $rate }
conditions = Conditions of sale
conditions-version = Version { $number }
conditions-description = Conditions of sale of “{ $sale }”, version { $number }.

## A lot
lot = Lot { $number }
lot-title = Lot { $number }: { $title }
lot-picture = Picture { $n } of lot { $number }
zoom-close = Close
zoom-previous = Previous picture
zoom-next = Next picture
lot-no-picture = No picture
lot-estimate = Estimate { $amount }
lot-next = Next bid at least
lot-read-at = Prices as of { $time }. Reload the page for the latest.
lot-contact = To bid, contact the house.
lot-bids = Latest bids
lot-neighbours = Lots beside this one
lot-starts-at = Starts at
lot-hammer-price = Hammer price
lot-bid-count = { $n ->
    [one] Current bid, 1 bid
   *[other] Current bid, { $n } bids
}
lot-total = { $amount } with premium and taxes
lot-sold = Sold
lot-unsold = Not sold
lot-passed = Passed
lot-suspended = Bidding is paused
lot-in-ring = In the ring now
lot-to-come = To come
lot-ends = Ends { $time }
lot-ends-later = Bidding is not open yet. Ends { $time }
lot-paddle = Paddle { $number }
lot-in-room = In the room
lot-bid-withdrawn = , withdrawn
rule-fixed = Bids do not extend the end.
rule-extends = A bid in the last { $time } extends the end to { $time } after that bid, as often as bids come in.
duration-seconds = { $n ->
    [one] 1 second
   *[other] { $n } seconds
}
duration-minutes = { $n ->
    [one] 1 minute
   *[other] { $n } minutes
}
duration-hours = { $n ->
    [one] 1 hour
   *[other] { $n } hours
}

## What the script of live pages shows
live-ring-warned = In the ring now. Fair warning
live-ring-paused = In the ring. Bidding is paused
live-ask = Asking price
live-checking = Checking final bids…
live-withdrawn = Not on view any more
live-clock = Saleroom clock
live-days = { $d } d { $h } h
live-hours = { $h } h { $m } min
live-extended = Extended to { $time }. A bid came in.
live-moved = The lot now ends at { $time }.
live-left-300 = 5 minutes left.
live-left-60 = 1 minute left.
live-left-10 = 10 seconds left.
live-now = Prices on this page are live.
live-lost = Link lost. Prices may be old.
live-link-lost = The saleroom has lost its link. Bidding is paused.
live-back = Welcome back. Updating…
live-over = This sale is over.
live-gone = This page is not on view any more.
live-again = Open the page again
stage-ring = Lot { $lot } is in the ring. Asking price { $amount }.
stage-warned = Lot { $lot }: fair warning. Asking price { $amount }.
stage-paused = Lot { $lot } is in the ring. Bidding is paused.
stage-sold = Lot { $lot } sold at { $amount }.
stage-passed = Lot { $lot } passed.
stage-none = No lot is in the ring.
messages = Messages of the auctioneer
message-from = Auctioneer, { $time }
film = Live picture of the sale
film-late = The picture is late. Trust the button.
film-late-about = The picture is about { $seconds } s late. Trust the button.

## Bidding
bid-label = Your bid
bid-sign-in = Sign in to bid
bid-register = Register for this sale to bid
bid = Bid { $amount }
bid-confirm = Confirm { $amount }
bid-confirm-maximum = Confirm your maximum of { $amount }
bid-buy = Buy now for { $amount }
bid-confirm-buy = Confirm: buy for { $amount }
bid-withdraw = Withdraw the commission bid
bid-confirm-withdraw = Confirm: withdraw
bid-set = Set
bid-dont = Don’t bid
bid-sending = Sending…
bid-one-tap = Bid with one tap in this sale
bid-watch = ☆ Watch
bid-watched = ★ Watched
bid-maximum = Your maximum
bid-maximum-raise = Raise your maximum
bid-maximum-hint = { $amount } or more. We bid for you up to it, in steps, only as far as needed to lead and to reach a reserve of the house.
bid-maximum-secret = Others see the price only, never your maximum.
bid-commission = Leave a commission bid
bid-commission-change = Change your commission bid
bid-commission-hint = { $amount } or more. The auctioneer bids for you up to it. You can change it until the lot comes into the ring.
bid-unknown = Not known yet if your bid arrived. Checking…
bid-expired = Not confirmed. Nothing was sent.
bid-moved = The price moved. Nothing was sent.
bid-signed-out = You are signed out. Sign in to see where you stand.
bid-not-sent = You are signed out. Nothing was sent.
bid-rates-moved = Premium or taxes have changed. Nothing was sent. Read the new total.
bid-received = Already received: { $amount }.
bid-sent = Sent { $amount }.
bid-bought = ✓ Bought for { $amount }.
bid-withdrawn = Your commission bid is withdrawn.
standing-waiting = Sent { $amount }. Waiting for the auctioneer.
standing-commission = Your commission bid is { $amount }.
standing-won = ✓ Yours at { $amount }, paddle { $paddle }.
standing-lost = ✕ Not yours. Sold for { $amount }.
standing-unsold = Not sold.
standing-leads = ✓ You lead at { $amount }.
standing-elsewhere = ✓ Placed on your other device. You lead at { $amount }.
standing-maximum = Your maximum is { $amount }.
standing-struck = Your bid was withdrawn.
standing-outbid = ↓ Outbid. Someone else leads at { $amount }.

## Bids that were not placed
refused-equal = { $amount } was bid before you. Next { $next }.
refused-moved = The price moved. Nothing was sent. Next { $next }.
refused-leading = You lead already. Nothing was sent. Raise your maximum if you like.
refused-unregistered = You are not registered for this sale. Nothing was sent.
refused-low = { $amount } is too low. Nothing was sent. Bid { $least } or more.
refused-maximum = { $amount } is not above your maximum, which can’t be lowered. Nothing was sent. If it was a mistake, call the house at once.
refused-limit = Over your { $limit } limit. Ask the house. Nothing was sent: { $committed } is taken by lots that you lead or won.
refused-leads = You lead already. Nothing was sent.
refused-paused = Bidding is paused. Nothing was sent.
refused-ended = The lot has ended. Your bid arrived too late and does not count.
refused-late = Arrived { $seconds } s after close. Not counted.
refused-closed = Bidding is not open. Nothing was sent.
refused-own-lot = This lot was consigned by you, so you can’t bid on it.
refused-suspended = The house has suspended your paddle. Nothing was sent. Contact the house.
refused-in-ring = The lot is in the ring. Nothing was sent. Bid at the asking price.
refused-not-in-ring = The lot is not in the ring any more. Nothing was sent.
refused-no-commission = You have no commission bid on this lot.
refused-no-buy-now = The lot can’t be bought at once any more. Nothing was sent.
refused-high = { $amount } is too high. Nothing was sent. Bid at most { $most }.
refused-other-amount = This bid was sent before with another amount. Nothing was sent.
refused-busy = The bid was not placed: the lot is being changed. Try again.

## An offer of the house: a lot that did not sell
offer-lot = The house offers you lot { $lot } at { $amount }.
offer-until = Answer before { $time }.
offer-answer = Answer the offer
offer-accept = Accept: buy for { $amount }
offer-decline = Decline
offer-confirm-decline = Confirm: decline
offer-later = Decide later
offer-accepted = ✓ You bought the lot for { $amount }. My bids says how to pay and collect.
offer-declined = You declined the offer.
offer-over = The offer has ended. Nothing was bought.
offer-changed = The lot, or its price with premium and taxes, has changed. Nothing was bought. Read the offer again.
offer-withdrawn = The house has withdrawn the offer. Nothing was bought.
offer-accepted-before = You accepted this offer before: the lot is yours.
offer-declined-before = You declined this offer before. Ask the house for another one.
offer-busy = The lot is being changed. Nothing was bought. Try again.

## My bids
mine = My bids
mine-description = Your bids.
mine-welcome = Welcome. You are signed in.
mine-read-at = As of { $time }.
mine-latest = Show the latest
mine-none-title = No bids yet
mine-none = Lots that you bid on or watch appear here.
mine-offered = Offered to you
mine-outbid = You are outbid
mine-leading = You lead
mine-commission = Commission bids
mine-won = Won
mine-watched = Watched
mine-over = Over
mine-is-outbid = Outbid
mine-is-left = Left with the house
mine-is-won = Yours
mine-is-lost = Not yours
mine-is-over = Over
mine-maximum = Your maximum { $amount }
mine-pay = Pay and collect
mine-registrations = My registrations

## Registration for a sale
register = Register to bid
register-description = Register for { $sale }.
register-as = You register as { $name }, { $email }.
register-change = Change
register-conditions = Conditions of sale, version { $number }
register-accept = I have read the conditions of sale and accept them
register-at-once = You get a paddle at once and can bid.
register-by-staff = The house looks at your registration before you can bid.
register-button = Register
register-not-yet = You are not registered yet
register-back = Back to the lot
register-lots = Show the lots
register-over = The sale is over and takes no registrations.
register-missing = read the conditions and accept them
register-changed = the house changed the conditions: read and accept the version of now
register-refused = The house does not take your registration. Contact the house.
register-approved = You are registered. Your paddle is { $paddle }.
register-approved-next = Other bidders see this number and never your name.
register-limit = Your limit in this sale is { $amount }.
limit-used = { $used } of it is taken by lots that you lead or won.
limit-title = Ask for a higher limit
limit-amount = Limit that you need
limit-words = Your words to the house
limit-button = Ask the house
limit-waits = You asked for { $amount }. The house has not decided yet.
limit-refused = The house did not raise your limit: { $reason }
limit-low = must be more than your limit of { $amount }
limit-often = you asked too often: try again tomorrow
limit-not-asked = Not asked yet
register-pending = The house is checking your registration.
register-pending-next = You can bid as soon as the house approves it. Then this page has your paddle number.
register-declined = The house declined your registration.
register-declined-next = Contact the house if you have questions.
register-suspended = The house has suspended your paddle { $paddle }.
register-suspended-next = Contact the house. Bids that you placed stand.

## Account
account = Account
account-title = Your account
account-description = Your account at { $house }.
account-email = E-mail address: { $email }
account-saved = Saved.
account-kept = Registrations that you have keep the name and number that the house has.
account-save = Save
account-password = Choose another password
account-export = Export my data
account-delete = Delete the account
account-delete-description = Delete your account.
account-delete-causes = The account ends with its sign-ins and watched lots. Bids that you placed stand, and the house keeps its records of your purchases for as long as the law requires. Ask the house to erase what else it has about you.
account-delete-keep = Keep it
account-not-deleted = The account was not deleted
sign-in = Sign in
sign-in-description = Sign in to bid with { $house }.
sign-in-signed-out = You are signed out.
sign-in-deleted = Your account is deleted.
sign-in-wrong = E-mail address or password is wrong.
sign-in-attempts = Too many attempts. Try again in { $minutes } min, or choose another password.
sign-in-no-account = Open an account, or choose another password
sign-out = Sign out
sign-up = Open an account
sign-up-description = Open an account to bid with { $house }.
sign-up-how = We send a link to your e-mail address. It opens your account, or lets you choose another password if you have one.
sign-up-send = Send the link
sign-up-has-password = I have a password
sign-up-not-sent = No mail was sent
sign-up-mailbox = Look into your mailbox
sign-up-sent = A link is on its way to { $email }. It works for one hour.
sign-up-wait = If it does not come within some minutes, look into the folder for unwanted mail.
sign-up-again = Ask for another link
open-title = Open your account
open-description = { $title } at { $house }.
open-email = Your e-mail address: { $email }
open-has-account = You have an account at { $house }. With another password you are signed out everywhere else.
open-save = Save the password
open-button = Open the account
open-void-title = This link can’t be used
open-void = The link was used before, or it is too old: ask for another one. Open { $address } to get a new link.

## Fields
field-email = E-mail address
field-password = Password
field-password-hint = At least 12 characters.
field-name = Name
field-name-hint = The house sees it. Other bidders see your paddle number only.
field-phone = Telephone
field-language = Language
field-language-hint = Of these pages and of the mails about your account.
field-language-any = As the browser asks
field-time-zone = Time zone
field-time-zone-hint = Such as Europe/London. Times of a sale are shown in its own zone, and in yours beside it.
field-line1 = Address, line 1
field-line1-hint = An address has at least this line and a postcode. Leave all of them empty for none.
field-line2 = Address, line 2
field-city = City
field-county = County
field-postcode = Postcode
field-country = Country code
field-country-hint = Two letters of ISO 3166, such as GB, IE or FR. Empty: GB.

## What is wrong with a field
fault-empty = is empty: fill it in
fault-blank = begins or ends with a blank: remove it
fault-control = holds a line break or another control character: remove it
fault-long = has { $n } characters: shorten it to at most { $most }
fault-unseen = holds an invisible character: remove it
fault-at = holds the character @: write a name, not an e-mail address
fault-phone = is missing: the house asks for it
fault-address = is missing: the house asks for your address
fault-line = is empty: an address has it
fault-country = is not a country code: write two letters, such as GB for the United Kingdom
fault-email = is not an e-mail address, such as ann@example.com
fault-time-zone = is not a time zone, such as Europe/London
fault-wrong = is wrong
fault-short = must have at least { $least } characters
fault-common = is easy to guess: choose another one, such as four words that do not belong together
fault-mails = too many mails were sent: try again in { $minutes } minutes
fault-mail-failed = the mail could not be sent: try again in some minutes
fault-links = too many links were asked for: try again in { $minutes } min
amount-unread = “{ $text }” is not one amount. Write one number in { $currency }, such as { $example }.
amount-currency = “{ $text }” is in another currency than the sale. Write one number in { $currency }, such as { $example }.
amount-ambiguous = “{ $text }” can be read in two ways. Write thousands without a separator, and all decimals, such as { $example }.
amount-decimals = “{ $text }” has too many decimals. Write it such as { $example }.
amount-too-much = “{ $text }” is too much. Write at most { $most }.
amount-none = is not an amount

## Error pages
error-request = Request
error-not-found-title = Page not found
error-not-found = It may have been deleted, or the address may be incomplete. Check the address.
error-bad-request-title = The request was not accepted
error-forbidden-title = You are not allowed to do this
error-foreign-form = The form was sent by another site, or by a browser that does not report the form’s origin. Open the page at { $address } and send the form again.
error-method-title = Method not allowed
error-method = This address does not support the request’s method. Go back and use the page’s buttons.
error-form-title = The form was not accepted
error-conflict-title = The change was not made
error-unavailable-title = Not available at the moment
error-unavailable = The server can’t reach its database at the moment. Try again in a few seconds.
error-internal-title = Internal error
error-internal = The server could not complete the request and has logged the error. Try again. If the error stays, contact the operator of this server.
error-closed-title = The saleroom is closed for the moment
error-closed = Its pages open again as soon as the server can send mail. Nothing is lost. To bid, contact the house.
error-full-title = Too many live pages are open
error-full = Open the page again in some seconds.
error-attempts-title = Too many attempts
error-attempts = Wait a little before you try again.
error-changed = Something changed at the same time. Go back, reload the page and try again.
error-accounts-closed = The house takes no online bids: contact it.
error-watched = { $maximum } lots are watched, which is the maximum: stop watching one first.

## Notices
notices = Notices
notices-none-title = No notices yet
notices-none = When you are outbid, or a lot of yours ends, it stands here.
notices-choices = Mails and notices
notices-saved = Saved.
notices-mails = Mails
notices-mails-to = To { $email }. Send me a mail when …
notices-about-outbid = I am outbid
notices-about-won = I bought a lot
notices-about-not-won = a lot ended, and I did not buy it
notices-about-sale = a sale for which I am registered begins
notices-about-lot = a lot that I follow comes into the ring soon
notices-about-registration = the house decided about my registration
notices-about-limit = the house decided about a higher limit
notices-about-message = the house writes to me
notices-about-offer = the house offers me a lot that was not sold
notice-new = New
notice-close = Close
notice-outbid = Outbid on lot { $lot }. The price is { $price }.
notice-outbid-only = Outbid on lot { $lot }.
notice-won = Lot { $lot } is yours at { $price }.
notice-not-won = Lot { $lot } was sold for { $price }, not to you.
notice-unsold = Lot { $lot } was not sold.
notice-sale-began = The sale has begun.
notice-lot-soon = Lot { $lot } comes into the ring soon.
notice-approved = Your registration is approved.
notice-suspended = Your registration is suspended. Contact the house.
notice-declined = Your registration was declined. Contact the house.
notice-limit-granted = Your limit in this sale is now { $price }.
notice-message = { $house }: { $subject }
push = Notices in this browser
push-detail = They appear also while no page of the saleroom is open.
push-needs = Your browser does not offer this, or it needs the page’s script. On an iPhone or iPad, add the page to the home screen first.
push-on = Show notices in this browser
push-off = Show no more notices here
push-later = Not now
push-offer = Be told when you are outbid, also while this page is closed?
push-is-on = This browser shows your notices now.
push-is-off = This browser shows no more notices.
push-refused = The browser does not allow notices of this page. Its settings for this site can change that.
push-browsers = { $n ->
    [one] One browser shows your notices.
   *[other] { $n } browsers show your notices.
}
notice-kind-outbid = Outbid
notice-kind-won = Lot won
notice-kind-not-won = Lot not won
notice-kind-sale = Sale begins
notice-kind-lot = Lot soon in the ring
notice-kind-registration = Registration
notice-kind-limit = Higher limit
notice-kind-message = Message of the house
notice-kind-offer = Offer of the house
push-off-all = Show no more notices in any browser
end-mails = End mails
end-mails-ask = End mails of this kind: { $about }?
end-mails-done = You receive no more mails of this kind: { $about }.
end-mails-all-done = You receive no more mails with notices.
end-mails-one = End these mails
end-mails-all = End all mails with notices
end-mails-stays = Your notices still stand on the page Notices.

## Web sites of the house that bid for a bidder
sites = Connected sites
sites-ended = The site has no access any more. Bids that it placed stand.
sites-none = No web site bids for you. One that asks for it appears here after you have allowed it.
sites-about = These web sites can read your bids and bid for you at { $house }.
sites-end = Disconnect
sites-times = Allowed { $allowed }. Last renewed { $used }. Ends { $ends }.
site-title = Allow a web site
site-ask = Let { $host } bid for you?
site-who = The web site { $origin } asks to act for you at { $house }. You are signed in as { $name }, { $email }.
site-may = If you allow it, the site can:
site-may-read = read your name, e-mail address, registrations, bids, maxima and watched lots
site-may-register = register you for sales and accept their conditions for you
site-may-bid = bid and buy for you. Its bids bind you as your own do
site-limits = It does not get your password, and can’t change your account. Its access ends after 30 days, or as soon as you end it on this page:
site-allow = Allow
site-cancel = Cancel
site-refused-title = This link can’t be used
site-refused = A web site asked to bid for you at { $house }, but the house does not list this site with this address. Nothing was sent to it.
site-refused-owner = If you run the site: its origin and the address to come back to have to be exactly those that the house lists.

## The script element for a house's own web site
embed-price = Price
embed-more = Show more lots
embed-bid = Bid in the saleroom
embed-look = Show in the saleroom
embed-failed = The lots can’t be shown at the moment. Try again later.

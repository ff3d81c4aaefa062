# Die Texte des Saals auf Deutsch (Sie). The texts of the saleroom in German.

## Around every page
site-name = Auktionssaal
skip = Zum Inhalt
optional = (freiwillig)
nothing-saved = Nichts wurde gespeichert
colours = Farben
colours-system = System
colours-light = Hell
colours-dark = Dunkel
languages = Sprache
nav-label = Seiten des Hauses
nav-sales = Auktionen
nav-results = Ergebnisse
contact-email = E-Mail: { $value }
contact-telephone = Telefon: { $value }
contact-website = Website: { $value }
own-time = Ihre Zeit: { $time }

## Sales of a house
sales-description = Auktionen und Ergebnisse von { $house }.
sales-live = Jetzt live
sales-open = Gebote möglich
sales-ended = Gerade beendet
sales-coming = Kommende Auktionen
sales-none-title = Keine Auktion angekündigt
sales-none = Die nächste Auktion erscheint hier, sobald das Haus sie ankündigt.
sales-past = Ergebnisse vergangener Auktionen
sales-past-pages = Seiten der vergangenen Auktionen
sales-latest = Neueste
sales-earlier = Frühere Auktionen
sales-show = Auktionen zeigen
timed = Online-Auktion
timed-from = Online-Auktion, Lose enden ab { $time }
webcast = Live-Auktion
webcast-from = Live-Auktion, Beginn { $time }
lots-count = { $n ->
    [0] Lose folgen
    [one] 1 Los
   *[other] { $n } Lose
}

## Catalogue
catalogue-all = Alle Lose
catalogue-to-be-sold = Noch zu haben
catalogue-search = { $lots } durchsuchen
catalogue-search-button = Suchen
catalogue-viewing = Besichtigung
catalogue-filter = Nach Ergebnis filtern
catalogue-category = Kategorie
catalogue-category-any = Alle Kategorien
catalogue-price-from = Preis ab
catalogue-price-to = Preis bis
catalogue-price = Nach Preis filtern
catalogue-further = Weitere Filter
catalogue-ends-hour = Endet in der nächsten Stunde
catalogue-ends-today = Endet heute
catalogue-none-title = Die Lose sind noch nicht zu sehen
catalogue-none = Sie erscheinen hier, sobald das Haus sie zeigt.
catalogue-no-match-title = Kein Los gefunden
catalogue-no-match = Kein Los dieser Auktion passt zu Suche und Filter.
catalogue-show-all = Alle Lose zeigen
catalogue-pages = Seiten des Katalogs
catalogue-first = Erste Lose
catalogue-next = Weitere Lose
charges = Zum Hammerpreis kommen hinzu: { $rates }
charge-premium = Aufgeld { $rate }
charge-hammer-tax = Steuer auf den Hammerpreis { $rate }
charge-premium-tax = Steuer auf das Aufgeld { $rate }
conditions = Versteigerungsbedingungen
conditions-version = Fassung { $number }
conditions-description = Versteigerungsbedingungen von „{ $sale }“, Fassung { $number }.

## A lot
lot = Los { $number }
lot-title = Los { $number }: { $title }
lot-picture = Bild { $n } von Los { $number }
zoom-close = Schließen
zoom-previous = Voriges Bild
zoom-next = Nächstes Bild
lot-no-picture = Kein Bild
lot-estimate = Schätzpreis { $amount }
lot-next = Nächstes Gebot mindestens
lot-read-at = Preise von { $time }. Laden Sie die Seite neu, um die neuesten zu sehen.
lot-contact = Um zu bieten, wenden Sie sich an das Haus.
lot-bids = Letzte Gebote
lot-neighbours = Lose davor und danach
lot-starts-at = Startpreis
lot-hammer-price = Hammerpreis
lot-bid-count = { $n ->
    [one] Aktuelles Gebot, 1 Gebot
   *[other] Aktuelles Gebot, { $n } Gebote
}
lot-total = { $amount } mit Aufgeld und Steuern
lot-sold = Zugeschlagen
lot-unsold = Nicht verkauft
lot-passed = Zurückgegangen
lot-suspended = Bieten unterbrochen
lot-in-ring = Jetzt im Aufruf
lot-to-come = Kommt noch
lot-ends = Endet { $time }
lot-ends-later = Noch keine Gebote möglich. Endet { $time }
lot-paddle = Bieternummer { $number }
lot-in-room = Im Saal
lot-bid-withdrawn = , zurückgezogen
rule-fixed = Gebote verlängern das Ende nicht.
rule-extends = Ein Gebot, das weniger als { $time } vor dem Ende eingeht, verschiebt das Ende auf { $time } nach diesem Gebot, sooft Gebote eingehen.
duration-seconds = { $n ->
    [one] 1 Sekunde
   *[other] { $n } Sekunden
}
duration-minutes = { $n ->
    [one] 1 Minute
   *[other] { $n } Minuten
}
duration-hours = { $n ->
    [one] 1 Stunde
   *[other] { $n } Stunden
}

## What the script of live pages shows
live-ring-warned = Jetzt im Aufruf. Zum Zweiten
live-ring-paused = Im Aufruf. Bieten unterbrochen
live-ask = Aufgerufener Preis
live-checking = Letzte Gebote werden geprüft…
live-withdrawn = Nicht mehr zu sehen
live-clock = Uhr des Saals
live-days = { $d } T { $h } Std.
live-hours = { $h } Std. { $m } Min.
live-extended = Verlängert bis { $time }. Ein Gebot ging ein.
live-moved = Das Los endet jetzt um { $time }.
live-left-300 = Noch 5 Minuten.
live-left-60 = Noch 1 Minute.
live-left-10 = Noch 10 Sekunden.
live-now = Die Preise auf dieser Seite sind aktuell.
live-lost = Verbindung verloren. Preise sind vielleicht veraltet.
live-link-lost = Der Saal hat die Verbindung verloren. Es wird nicht geboten.
live-back = Willkommen zurück. Wird aktualisiert…
live-over = Diese Auktion ist beendet.
live-gone = Diese Seite ist nicht mehr zu sehen.
live-again = Seite neu öffnen
stage-ring = Los { $lot } ist im Aufruf. Aufgerufener Preis { $amount }.
stage-warned = Los { $lot }: zum Zweiten. Aufgerufener Preis { $amount }.
stage-paused = Los { $lot } ist im Aufruf. Bieten unterbrochen.
stage-sold = Los { $lot } zugeschlagen für { $amount }.
stage-passed = Los { $lot } zurückgegangen.
stage-none = Kein Los ist im Aufruf.
messages = Mitteilungen des Auktionators
message-from = Auktionator, { $time }
film = Livebild der Auktion
film-late = Das Bild kommt verzögert. Es gilt, was auf der Schaltfläche steht.
film-late-about = Das Bild kommt etwa { $seconds } s verzögert. Es gilt, was auf der Schaltfläche steht.

## Bidding
bid-label = Ihr Gebot
bid-sign-in = Anmelden und bieten
bid-register = Für diese Auktion registrieren
bid = { $amount } bieten
bid-confirm = { $amount } bestätigen
bid-confirm-maximum = Ihr Höchstgebot von { $amount } bestätigen
bid-buy = Jetzt kaufen für { $amount }
bid-confirm-buy = Kauf für { $amount } bestätigen
bid-withdraw = Vorgebot zurückziehen
bid-confirm-withdraw = Zurückziehen bestätigen
bid-set = Setzen
bid-dont = Nicht bieten
bid-sending = Wird gesendet…
bid-one-tap = In dieser Auktion mit einem Tippen bieten
bid-watch = ☆ Beobachten
bid-watched = ★ Beobachtet
bid-maximum = Ihr Höchstgebot
bid-maximum-raise = Ihr Höchstgebot erhöhen
bid-maximum-hint = { $amount } oder mehr. Wir bieten für Sie bis dahin, in Schritten und nur so weit, wie es zum Führen und für einen Mindestpreis des Hauses nötig ist.
bid-maximum-secret = Andere sehen nur den Preis, nie Ihr Höchstgebot.
bid-commission = Vorgebot abgeben
bid-commission-change = Ihr Vorgebot ändern
bid-commission-hint = { $amount } oder mehr. Der Auktionator bietet für Sie bis dahin. Sie können es ändern, bis das Los aufgerufen wird.
bid-unknown = Noch nicht bekannt, ob Ihr Gebot angekommen ist. Wird geprüft…
bid-expired = Nicht bestätigt. Nichts wurde gesendet.
bid-moved = Der Preis hat sich geändert. Nichts wurde gesendet.
bid-signed-out = Sie sind abgemeldet. Melden Sie sich an, um Ihren Stand zu sehen.
bid-not-sent = Sie sind abgemeldet. Nichts wurde gesendet.
bid-rates-moved = Aufgeld oder Steuern haben sich geändert. Nichts wurde gesendet. Lesen Sie die neue Summe.
bid-received = Schon eingegangen: { $amount }.
bid-sent = { $amount } gesendet.
bid-bought = ✓ Gekauft für { $amount }.
bid-withdrawn = Ihr Vorgebot ist zurückgezogen.
standing-waiting = { $amount } gesendet. Warten auf den Auktionator.
standing-commission = Ihr Vorgebot beträgt { $amount }.
standing-won = ✓ Ihr Los für { $amount }, Bieternummer { $paddle }.
standing-lost = ✕ Nicht Ihr Los. Zugeschlagen für { $amount }.
standing-unsold = Nicht verkauft.
standing-leads = ✓ Sie führen mit { $amount }.
standing-elsewhere = ✓ Auf Ihrem anderen Gerät geboten. Sie führen mit { $amount }.
standing-maximum = Ihr Höchstgebot beträgt { $amount }.
standing-struck = Ihr Gebot wurde zurückgezogen.
standing-outbid = ↓ Überboten. Ein anderer Bieter führt mit { $amount }.

## Bids that were not placed
refused-equal = { $amount } wurde vor Ihnen geboten. Nächstes Gebot { $next }.
refused-moved = Der Preis hat sich geändert. Nichts wurde gesendet. Nächstes Gebot { $next }.
refused-leading = Sie führen schon. Nichts wurde gesendet. Sie können Ihr Höchstgebot erhöhen.
refused-unregistered = Sie sind für diese Auktion nicht registriert. Nichts wurde gesendet.
refused-low = { $amount } ist zu niedrig. Nichts wurde gesendet. Bieten Sie { $least } oder mehr.
refused-maximum = { $amount } liegt nicht über Ihrem Höchstgebot, das nicht gesenkt werden kann. Nichts wurde gesendet. War es ein Irrtum, rufen Sie sofort das Haus an.
refused-limit = Über Ihrem Limit von { $limit }. Fragen Sie das Haus. Nichts wurde gesendet: { $committed } sind durch Lose gebunden, bei denen Sie führen oder den Zuschlag haben.
refused-leads = Sie führen schon. Nichts wurde gesendet.
refused-paused = Das Bieten ist unterbrochen. Nichts wurde gesendet.
refused-ended = Das Los ist beendet. Ihr Gebot kam zu spät an und zählt nicht.
refused-late = { $seconds } s nach dem Ende eingegangen. Zählt nicht.
refused-closed = Gebote sind nicht möglich. Nichts wurde gesendet.
refused-own-lot = Sie haben dieses Los eingeliefert und können nicht darauf bieten.
refused-suspended = Das Haus hat Ihre Bieternummer gesperrt. Nichts wurde gesendet. Wenden Sie sich an das Haus.
refused-in-ring = Das Los ist im Aufruf. Nichts wurde gesendet. Bieten Sie den aufgerufenen Preis.
refused-not-in-ring = Das Los ist nicht mehr im Aufruf. Nichts wurde gesendet.
refused-no-commission = Sie haben kein Vorgebot auf dieses Los.
refused-no-buy-now = Das Los kann nicht mehr sofort gekauft werden. Nichts wurde gesendet.
refused-high = { $amount } ist zu hoch. Nichts wurde gesendet. Bieten Sie höchstens { $most }.
refused-other-amount = Dieses Gebot wurde schon mit einem anderen Betrag gesendet. Nichts wurde gesendet.
refused-busy = Das Gebot wurde nicht abgegeben: Das Los wird gerade geändert. Versuchen Sie es noch einmal.

## An offer of the house: a lot that did not sell
offer-lot = Das Haus bietet Ihnen Los { $lot } für { $amount } an.
offer-until = Antworten Sie vor { $time }.
offer-answer = Angebot beantworten
offer-accept = Annehmen: für { $amount } kaufen
offer-decline = Ablehnen
offer-confirm-decline = Ablehnung bestätigen
offer-later = Später entscheiden
offer-accepted = ✓ Sie haben das Los für { $amount } gekauft. Unter Meine Gebote steht, wie Sie zahlen und abholen.
offer-declined = Sie haben das Angebot abgelehnt.
offer-over = Das Angebot ist beendet. Nichts wurde gekauft.
offer-changed = Das Los oder sein Preis mit Aufgeld und Steuern hat sich geändert. Nichts wurde gekauft. Lesen Sie das Angebot noch einmal.
offer-withdrawn = Das Haus hat das Angebot zurückgezogen. Nichts wurde gekauft.
offer-accepted-before = Sie haben dieses Angebot schon angenommen: Das Los gehört Ihnen.
offer-declined-before = Sie haben dieses Angebot schon abgelehnt. Bitten Sie das Haus um ein neues.
offer-busy = Das Los wird gerade geändert. Nichts wurde gekauft. Versuchen Sie es noch einmal.

## My bids
mine = Meine Gebote
mine-description = Ihre Gebote.
mine-welcome = Willkommen. Sie sind angemeldet.
mine-read-at = Stand: { $time }.
mine-latest = Neuesten Stand zeigen
mine-none-title = Noch keine Gebote
mine-none = Lose, auf die Sie bieten oder die Sie beobachten, erscheinen hier.
mine-offered = Ihnen angeboten
mine-outbid = Sie sind überboten
mine-leading = Sie führen
mine-commission = Vorgebote
mine-won = Zugeschlagen
mine-watched = Beobachtet
mine-over = Beendet
mine-is-outbid = Überboten
mine-is-left = Liegt beim Haus
mine-is-won = Ihr Los
mine-is-lost = Nicht Ihr Los
mine-is-over = Beendet
mine-maximum = Ihr Höchstgebot { $amount }
mine-pay = Bezahlen und abholen
mine-registrations = Meine Registrierungen

## Registration for a sale
register = Zum Bieten registrieren
register-description = Registrierung für { $sale }.
register-as = Sie registrieren sich als { $name }, { $email }.
register-change = Ändern
register-conditions = Versteigerungsbedingungen, Fassung { $number }
register-accept = Ich habe die Versteigerungsbedingungen gelesen und nehme sie an
register-at-once = Sie bekommen sofort eine Bieternummer und können bieten.
register-by-staff = Das Haus prüft Ihre Registrierung, bevor Sie bieten können.
register-button = Registrieren
register-not-yet = Sie sind noch nicht registriert
register-back = Zurück zum Los
register-lots = Lose zeigen
register-over = Die Auktion ist beendet und nimmt keine Registrierungen an.
register-missing = lesen Sie die Bedingungen und nehmen Sie sie an
register-changed = das Haus hat die Bedingungen geändert: lesen Sie die neue Fassung und nehmen Sie sie an
register-refused = Das Haus nimmt Ihre Registrierung nicht an. Wenden Sie sich an das Haus.
register-approved = Sie sind registriert. Ihre Bieternummer ist { $paddle }.
register-approved-next = Andere Bieter sehen diese Nummer und nie Ihren Namen.
register-limit = Ihr Limit in dieser Auktion ist { $amount }.
limit-used = Davon sind { $used } durch Lose gebunden, bei denen Sie führen oder die Sie ersteigert haben.
limit-title = Um ein höheres Limit bitten
limit-amount = Benötigtes Limit
limit-words = Ihre Nachricht an das Haus
limit-button = Das Haus bitten
limit-waits = Sie haben um { $amount } gebeten. Das Haus hat noch nicht entschieden.
limit-refused = Das Haus hat Ihr Limit nicht erhöht: { $reason }
limit-low = muss höher sein als Ihr Limit von { $amount }
limit-often = Sie haben zu oft gebeten: bitte morgen wieder versuchen
limit-not-asked = Noch nicht gebeten
register-pending = Das Haus prüft Ihre Registrierung.
register-pending-next = Sie können bieten, sobald das Haus sie genehmigt. Dann steht auf dieser Seite Ihre Bieternummer.
register-declined = Das Haus hat Ihre Registrierung abgelehnt.
register-declined-next = Bei Fragen wenden Sie sich an das Haus.
register-suspended = Das Haus hat Ihre Bieternummer { $paddle } gesperrt.
register-suspended-next = Wenden Sie sich an das Haus. Abgegebene Gebote bleiben gültig.

## Account
account = Konto
account-title = Ihr Konto
account-description = Ihr Konto bei { $house }.
account-email = E-Mail-Adresse: { $email }
account-saved = Gespeichert.
account-kept = Bestehende Registrierungen behalten den Namen und die Nummer, die das Haus hat.
account-save = Speichern
account-password = Neues Passwort wählen
account-export = Meine Daten exportieren
account-delete = Konto löschen
account-delete-description = Ihr Konto löschen.
account-delete-causes = Das Konto endet mit seinen Anmeldungen und beobachteten Losen. Abgegebene Gebote bleiben gültig, und das Haus bewahrt die Unterlagen zu Ihren Käufen so lange auf, wie das Gesetz es verlangt. Bitten Sie das Haus, alles Weitere über Sie zu löschen.
account-delete-keep = Behalten
account-not-deleted = Das Konto wurde nicht gelöscht
sign-in = Anmelden
sign-in-description = Melden Sie sich an, um bei { $house } zu bieten.
sign-in-signed-out = Sie sind abgemeldet.
sign-in-deleted = Ihr Konto ist gelöscht.
sign-in-wrong = E-Mail-Adresse oder Passwort ist falsch.
sign-in-attempts = Zu viele Versuche. Versuchen Sie es in { $minutes } Min. noch einmal, oder wählen Sie ein neues Passwort.
sign-in-no-account = Konto eröffnen oder neues Passwort wählen
sign-out = Abmelden
sign-up = Konto eröffnen
sign-up-description = Eröffnen Sie ein Konto, um bei { $house } zu bieten.
sign-up-how = Wir senden einen Link an Ihre E-Mail-Adresse. Damit eröffnen Sie Ihr Konto oder wählen ein neues Passwort, wenn Sie schon eines haben.
sign-up-send = Link senden
sign-up-has-password = Ich habe ein Passwort
sign-up-not-sent = Keine E-Mail wurde gesendet
sign-up-mailbox = Sehen Sie in Ihr Postfach
sign-up-sent = Ein Link ist unterwegs an { $email }. Er gilt eine Stunde.
sign-up-wait = Kommt er nicht in wenigen Minuten, sehen Sie im Ordner für unerwünschte E-Mails nach.
sign-up-again = Neuen Link anfordern
open-title = Ihr Konto eröffnen
open-description = { $title } bei { $house }.
open-email = Ihre E-Mail-Adresse: { $email }
open-has-account = Sie haben ein Konto bei { $house }. Mit einem neuen Passwort werden Sie überall sonst abgemeldet.
open-save = Passwort speichern
open-button = Konto eröffnen
open-void-title = Dieser Link gilt nicht mehr
open-void = Der Link wurde schon benutzt oder ist zu alt. Öffnen Sie { $address }, um einen neuen zu bekommen.

## Fields
field-email = E-Mail-Adresse
field-password = Passwort
field-password-hint = Mindestens 12 Zeichen.
field-name = Name
field-name-hint = Das Haus sieht ihn. Andere Bieter sehen nur Ihre Bieternummer.
field-phone = Telefon
field-language = Sprache
field-language-hint = Dieser Seiten und der E-Mails zu Ihrem Konto.
field-language-any = Wie im Browser eingestellt
field-time-zone = Zeitzone
field-time-zone-hint = Zum Beispiel Europe/Berlin. Zeiten einer Auktion stehen in deren Zeitzone, und daneben in Ihrer.
field-line1 = Adresse, Zeile 1
field-line1-hint = Eine Adresse hat mindestens diese Zeile und eine Postleitzahl. Lassen Sie alle Zeilen leer, wenn Sie keine angeben.
field-line2 = Adresse, Zeile 2
field-city = Ort
field-county = Region
field-postcode = Postleitzahl
field-country = Ländercode
field-country-hint = Zwei Buchstaben nach ISO 3166, zum Beispiel DE, AT oder CH. Leer: GB.

## What is wrong with a field
fault-empty = bitte ausfüllen
fault-blank = beginnt oder endet mit einem Leerzeichen: bitte entfernen
fault-control = enthält einen Zeilenumbruch oder ein anderes Steuerzeichen: bitte entfernen
fault-long = hat { $n } Zeichen: bitte auf höchstens { $most } kürzen
fault-unseen = enthält ein unsichtbares Zeichen: bitte entfernen
fault-at = enthält das Zeichen @: schreiben Sie einen Namen, keine E-Mail-Adresse
fault-phone = fehlt: das Haus braucht diese Angabe
fault-address = fehlt: das Haus braucht Ihre Adresse
fault-line = bitte ausfüllen: zu einer Adresse gehört diese Angabe
fault-country = ist kein Ländercode: schreiben Sie zwei Buchstaben, zum Beispiel DE für Deutschland
fault-email = ist keine E-Mail-Adresse wie ann@example.com
fault-time-zone = ist keine Zeitzone wie Europe/Berlin
fault-wrong = ist falsch
fault-short = muss mindestens { $least } Zeichen haben
fault-common = ist leicht zu erraten: wählen Sie ein anderes, zum Beispiel vier Wörter, die nicht zusammengehören
fault-mails = zu viele E-Mails wurden gesendet: versuchen Sie es in { $minutes } Minuten noch einmal
fault-mail-failed = die E-Mail konnte nicht gesendet werden: versuchen Sie es in einigen Minuten noch einmal
fault-links = zu viele Links wurden angefordert: versuchen Sie es in { $minutes } Min. noch einmal
amount-unread = „{ $text }“ ist kein einzelner Betrag. Schreiben Sie eine Zahl in { $currency }, zum Beispiel { $example }.
amount-currency = „{ $text }“ ist in einer anderen Währung als die Auktion. Schreiben Sie eine Zahl in { $currency }, zum Beispiel { $example }.
amount-ambiguous = „{ $text }“ kann man auf zwei Arten lesen. Schreiben Sie Tausender ohne Trennzeichen und alle Nachkommastellen, zum Beispiel { $example }.
amount-decimals = „{ $text }“ hat zu viele Nachkommastellen. Schreiben Sie den Betrag wie { $example }.
amount-too-much = „{ $text }“ ist zu viel. Schreiben Sie höchstens { $most }.
amount-none = ist kein Betrag

## Error pages
error-request = Anfrage
error-not-found-title = Seite nicht gefunden
error-not-found = Vielleicht wurde sie gelöscht, oder die Adresse ist unvollständig. Prüfen Sie die Adresse.
error-bad-request-title = Die Anfrage wurde nicht angenommen
error-forbidden-title = Das ist nicht erlaubt
error-foreign-form = Das Formular kam von einer anderen Website oder von einem Browser, der seine Herkunft nicht nennt. Öffnen Sie die Seite { $address } und senden Sie das Formular noch einmal.
error-method-title = Methode nicht erlaubt
error-method = Diese Adresse nimmt die Methode der Anfrage nicht an. Gehen Sie zurück und benutzen Sie die Schaltflächen der Seite.
error-form-title = Das Formular wurde nicht angenommen
error-conflict-title = Die Änderung wurde nicht ausgeführt
error-unavailable-title = Zurzeit nicht erreichbar
error-unavailable = Der Server erreicht seine Datenbank zurzeit nicht. Versuchen Sie es in einigen Sekunden noch einmal.
error-internal-title = Interner Fehler
error-internal = Der Server konnte die Anfrage nicht ausführen und hat den Fehler aufgezeichnet. Versuchen Sie es noch einmal. Bleibt der Fehler, wenden Sie sich an den Betreiber dieses Servers.
error-closed-title = Der Auktionssaal ist zurzeit geschlossen
error-closed = Seine Seiten öffnen wieder, sobald der Server E-Mails senden kann. Nichts geht verloren. Um zu bieten, wenden Sie sich an das Haus.
error-full-title = Zu viele Live-Seiten sind offen
error-full = Öffnen Sie die Seite in einigen Sekunden noch einmal.
error-attempts-title = Zu viele Versuche
error-attempts = Warten Sie ein wenig, bevor Sie es noch einmal versuchen.
error-changed = Zur gleichen Zeit hat sich etwas geändert. Gehen Sie zurück, laden Sie die Seite neu und versuchen Sie es noch einmal.
error-accounts-closed = Das Haus nimmt keine Online-Gebote an: wenden Sie sich an das Haus.
error-watched = Sie beobachten schon { $maximum } Lose, mehr geht nicht: beenden Sie zuerst eine Beobachtung.

## Notices
notices = Mitteilungen
notices-none-title = Noch keine Mitteilungen
notices-none = Wenn Sie überboten werden oder ein Los von Ihnen endet, steht es hier.
notices-choices = E-Mails und Mitteilungen
notices-saved = Gespeichert.
notices-mails = E-Mails
notices-mails-to = An { $email }. Eine E-Mail, wenn …
notices-about-outbid = ich überboten werde
notices-about-won = ich den Zuschlag erhalte
notices-about-not-won = ein Los endet und ich den Zuschlag nicht erhalte
notices-about-sale = eine Auktion beginnt, für die ich registriert bin
notices-about-lot = ein Los, das ich beobachte, bald aufgerufen wird
notices-about-registration = das Haus über meine Registrierung entschieden hat
notices-about-limit = das Haus über ein höheres Limit entschieden hat
notices-about-message = das Haus mir schreibt
notices-about-offer = das Haus mir ein Los anbietet, das nicht verkauft wurde
notice-new = Neu
notice-close = Schließen
notice-outbid = Überboten bei Los { $lot }. Der Preis ist { $price }.
notice-outbid-only = Überboten bei Los { $lot }.
notice-won = Los { $lot } ist Ihres, zu { $price }.
notice-not-won = Los { $lot } wurde für { $price } verkauft, nicht an Sie.
notice-unsold = Los { $lot } wurde nicht verkauft.
notice-sale-began = Die Auktion hat begonnen.
notice-lot-soon = Los { $lot } wird bald aufgerufen.
notice-approved = Ihre Registrierung ist bestätigt.
notice-suspended = Ihre Registrierung ist ausgesetzt. Bitte wenden Sie sich an das Haus.
notice-declined = Ihre Registrierung wurde abgelehnt. Bitte wenden Sie sich an das Haus.
notice-limit-granted = Ihr Limit in dieser Auktion ist jetzt { $price }.
notice-message = { $house }: { $subject }
push = Mitteilungen in diesem Browser
push-detail = Sie erscheinen auch, wenn keine Seite des Auktionssaals offen ist.
push-needs = Ihr Browser bietet das nicht an, oder es braucht das Skript der Seite. Auf einem iPhone oder iPad fügen Sie die Seite zuerst zum Home-Bildschirm hinzu.
push-on = Mitteilungen in diesem Browser zeigen
push-off = Hier keine Mitteilungen mehr zeigen
push-later = Nicht jetzt
push-offer = Möchten Sie erfahren, wenn Sie überboten werden, auch wenn diese Seite geschlossen ist?
push-is-on = Dieser Browser zeigt jetzt Ihre Mitteilungen.
push-is-off = Dieser Browser zeigt keine Mitteilungen mehr.
push-refused = Der Browser erlaubt keine Mitteilungen dieser Seite. Das lässt sich in seinen Einstellungen für diese Seite ändern.
push-browsers = { $n ->
    [one] Ein Browser zeigt Ihre Mitteilungen.
   *[other] { $n } Browser zeigen Ihre Mitteilungen.
}
notice-kind-outbid = Überboten
notice-kind-won = Zuschlag erhalten
notice-kind-not-won = Zuschlag nicht erhalten
notice-kind-sale = Auktion beginnt
notice-kind-lot = Los wird bald aufgerufen
notice-kind-registration = Registrierung
notice-kind-limit = Höheres Limit
notice-kind-message = Nachricht des Hauses
notice-kind-offer = Angebot des Hauses
push-off-all = In keinem Browser mehr Mitteilungen zeigen
end-mails = E-Mails beenden
end-mails-ask = Keine E-Mails dieser Art mehr: { $about }?
end-mails-done = Sie erhalten keine E-Mails dieser Art mehr: { $about }.
end-mails-all-done = Sie erhalten keine E-Mails mit Mitteilungen mehr.
end-mails-one = Diese E-Mails beenden
end-mails-all = Alle E-Mails mit Mitteilungen beenden
end-mails-stays = Ihre Mitteilungen stehen weiterhin auf der Seite Mitteilungen.

## Web sites of the house that bid for a bidder
sites = Verbundene Websites
sites-ended = Die Website hat keinen Zugang mehr. Gebote, die sie abgegeben hat, gelten weiter.
sites-none = Keine Website bietet für Sie. Eine, die darum bittet, steht hier, nachdem Sie es erlaubt haben.
sites-about = Diese Websites können bei { $house } Ihre Gebote lesen und für Sie bieten.
sites-end = Trennen
sites-times = Erlaubt { $allowed }. Zuletzt erneuert { $used }. Endet { $ends }.
site-title = Eine Website zulassen
site-ask = Darf { $host } für Sie bieten?
site-who = Die Website { $origin } möchte bei { $house } für Sie handeln. Sie sind angemeldet als { $name }, { $email }.
site-may = Wenn Sie es erlauben, kann die Website:
site-may-read = Ihren Namen, Ihre E-Mail-Adresse, Registrierungen, Gebote, Höchstgebote und beobachteten Lose lesen
site-may-register = Sie für Auktionen anmelden und deren Bedingungen für Sie annehmen
site-may-bid = für Sie bieten und kaufen. Ihre Gebote binden Sie wie Ihre eigenen
site-limits = Sie erhält Ihr Passwort nicht und kann Ihr Konto nicht ändern. Ihr Zugang endet nach 30 Tagen, oder sobald Sie ihn auf dieser Seite beenden:
site-allow = Erlauben
site-cancel = Abbrechen
site-refused-title = Dieser Link kann nicht verwendet werden
site-refused = Eine Website wollte bei { $house } für Sie bieten, aber das Haus führt diese Website mit dieser Adresse nicht. Es wurde ihr nichts gesendet.
site-refused-owner = Wenn Sie die Website betreiben: ihr Ursprung und die Rückkehradresse müssen genau denen entsprechen, die das Haus führt.

## The script element for a house's own web site
embed-price = Preis
embed-more = Mehr Lose zeigen
embed-bid = Im Auktionssaal bieten
embed-look = Im Auktionssaal ansehen
embed-failed = Die Lose können gerade nicht gezeigt werden. Versuchen Sie es später noch einmal.

# I testi della sala in italiano (Lei). The texts of the saleroom in Italian.

## Around every page
site-name = Sala d’asta
skip = Vai al contenuto
optional = (facoltativo)
nothing-saved = Non è stato salvato nulla
colours = Colori
colours-system = Sistema
colours-light = Chiaro
colours-dark = Scuro
languages = Lingua
nav-label = Pagine della casa
nav-sales = Aste
nav-results = Risultati
contact-email = E-mail: { $value }
contact-telephone = Telefono: { $value }
contact-website = Sito web: { $value }
own-time = La Sua ora: { $time }

## Sales of a house
sales-description = Aste e risultati di { $house }.
sales-live = In diretta
sales-open = Aperte alle offerte
sales-ended = Appena terminate
sales-coming = Prossime aste
sales-none-title = Nessuna asta annunciata
sales-none = La prossima asta apparirà qui appena la casa la annuncia.
sales-past = Risultati delle aste passate
sales-past-pages = Pagine delle aste passate
sales-latest = Le più recenti
sales-earlier = Aste precedenti
sales-show = Mostra le aste
timed = Asta online
timed-from = Asta online, i lotti terminano da { $time }
webcast = Asta in diretta
webcast-from = Asta in diretta, inizio { $time }
lots-count = { $n ->
    [0] Lotti da annunciare
    [one] 1 lotto
   *[other] { $n } lotti
}

## Catalogue
catalogue-all = Tutti i lotti
catalogue-to-be-sold = Da vendere
catalogue-search = Cerca in { $lots }
catalogue-search-button = Cerca
catalogue-viewing = Esposizione
catalogue-filter = Filtra per risultato
catalogue-category = Categoria
catalogue-category-any = Tutte le categorie
catalogue-price-from = Prezzo da
catalogue-price-to = Prezzo fino a
catalogue-price = Filtra per prezzo
catalogue-further = Altri filtri
catalogue-ends-hour = Termina nella prossima ora
catalogue-ends-today = Termina oggi
catalogue-none-title = I lotti non sono ancora visibili
catalogue-none = Appariranno qui appena la casa li mostra.
catalogue-no-match-title = Nessun lotto trovato
catalogue-no-match = Nessun lotto di quest’asta corrisponde alla ricerca e al filtro.
catalogue-show-all = Mostra tutti i lotti
catalogue-pages = Pagine del catalogo
catalogue-first = Primi lotti
catalogue-next = Lotti successivi
charges = Si aggiungono al prezzo di aggiudicazione: { $rates }
charge-premium = commissione d’acquisto { $rate }
charge-hammer-tax = imposta sul prezzo di aggiudicazione { $rate }
charge-premium-tax = imposta sulla commissione { $rate }
conditions = Condizioni di vendita
conditions-version = Versione { $number }
conditions-description = Condizioni di vendita di «{ $sale }», versione { $number }.

## A lot
lot = Lotto { $number }
lot-title = Lotto { $number }: { $title }
lot-picture = Immagine { $n } del lotto { $number }
zoom-close = Chiudi
zoom-previous = Immagine precedente
zoom-next = Immagine successiva
lot-no-picture = Nessuna immagine
lot-estimate = Stima { $amount }
lot-next = Prossima offerta da
lot-read-at = Prezzi al { $time }. Ricarichi la pagina per vedere gli ultimi.
lot-contact = Per fare offerte, contatti la casa.
lot-bids = Ultime offerte
lot-neighbours = Lotti vicini
lot-starts-at = Base d’asta
lot-hammer-price = Prezzo di aggiudicazione
lot-bid-count = { $n ->
    [one] Offerta attuale, 1 offerta
   *[other] Offerta attuale, { $n } offerte
}
lot-total = { $amount } con commissione e imposte
lot-sold = Aggiudicato
lot-unsold = Invenduto
lot-passed = Ritirato invenduto
lot-suspended = Offerte in pausa
lot-in-ring = In asta ora
lot-to-come = In arrivo
lot-ends = Termina { $time }
lot-ends-later = Le offerte non sono ancora aperte. Termina { $time }
lot-paddle = Paletta { $number }
lot-in-room = In sala
lot-bid-withdrawn = , ritirata
rule-fixed = Le offerte non prolungano la fine.
rule-extends = Un’offerta ricevuta meno di { $time } prima della fine la sposta a { $time } dopo quell’offerta, ogni volta che ne arriva una.
duration-seconds = { $n ->
    [one] 1 secondo
   *[other] { $n } secondi
}
duration-minutes = { $n ->
    [one] 1 minuto
   *[other] { $n } minuti
}
duration-hours = { $n ->
    [one] 1 ora
   *[other] { $n } ore
}

## What the script of live pages shows
live-ring-warned = In asta ora. Ultima chiamata
live-ring-paused = In asta. Offerte in pausa
live-ask = Prezzo richiesto
live-checking = Verifica delle ultime offerte…
live-withdrawn = Non più visibile
live-clock = Orologio della sala
live-days = { $d } g { $h } h
live-hours = { $h } h { $m } min
live-extended = Prolungato fino alle { $time }. È arrivata un’offerta.
live-moved = Il lotto termina ora alle { $time }.
live-left-300 = Restano 5 minuti.
live-left-60 = Resta 1 minuto.
live-left-10 = Restano 10 secondi.
live-now = I prezzi di questa pagina sono aggiornati.
live-lost = Connessione persa. I prezzi possono essere vecchi.
live-link-lost = La sala ha perso il collegamento. Le offerte sono sospese.
live-back = Bentornato. Aggiornamento…
live-over = Quest’asta è terminata.
live-gone = Questa pagina non è più visibile.
live-again = Riapri la pagina
stage-ring = Il lotto { $lot } è in asta. Prezzo richiesto { $amount }.
stage-warned = Lotto { $lot }: ultima chiamata. Prezzo richiesto { $amount }.
stage-paused = Il lotto { $lot } è in asta. Offerte in pausa.
stage-sold = Lotto { $lot } aggiudicato a { $amount }.
stage-passed = Lotto { $lot } ritirato invenduto.
stage-none = Nessun lotto è in asta.
messages = Messaggi del banditore
message-from = Banditore, { $time }
film = Immagine dal vivo dell’asta
film-late = L’immagine è in ritardo. Fa fede il pulsante.
film-late-about = L’immagine è in ritardo di circa { $seconds } s. Fa fede il pulsante.

## Bidding
bid-label = La Sua offerta
bid-sign-in = Acceda per offrire
bid-register = Si registri a quest’asta
bid = Offri { $amount }
bid-confirm = Conferma { $amount }
bid-confirm-maximum = Conferma la Sua offerta massima di { $amount }
bid-buy = Acquista ora a { $amount }
bid-confirm-buy = Conferma l’acquisto a { $amount }
bid-withdraw = Ritira l’offerta scritta
bid-confirm-withdraw = Conferma il ritiro
bid-set = Imposta
bid-dont = Non offrire
bid-sending = Invio…
bid-one-tap = Offrire con un solo tocco in quest’asta
bid-watch = ☆ Segui
bid-watched = ★ Seguito
bid-maximum = La Sua offerta massima
bid-maximum-raise = Aumenti la Sua offerta massima
bid-maximum-hint = { $amount } o più. Offriamo per Lei fino a questa cifra, per rilanci e solo quanto serve per essere in testa e per raggiungere un prezzo di riserva della casa.
bid-maximum-secret = Gli altri vedono solo il prezzo, mai la Sua offerta massima.
bid-commission = Lasci un’offerta scritta
bid-commission-change = Cambi la Sua offerta scritta
bid-commission-hint = { $amount } o più. Il banditore offre per Lei fino a questa cifra. Può cambiarla finché il lotto non va in asta.
bid-unknown = Non si sa ancora se la Sua offerta è arrivata. Verifica…
bid-expired = Non confermata. Non è stato inviato nulla.
bid-moved = Il prezzo è cambiato. Non è stato inviato nulla.
bid-signed-out = La Sua sessione è chiusa. Acceda per vedere la Sua posizione.
bid-not-sent = La Sua sessione è chiusa. Non è stato inviato nulla.
bid-rates-moved = La commissione o le imposte sono cambiate. Non è stato inviato nulla. Legga il nuovo totale.
bid-received = Già ricevuta: { $amount }.
bid-sent = Inviata: { $amount }.
bid-bought = ✓ Acquistato a { $amount }.
bid-withdrawn = La Sua offerta scritta è ritirata.
standing-waiting = Inviata: { $amount }. In attesa del banditore.
standing-commission = La Sua offerta scritta è di { $amount }.
standing-won = ✓ Suo a { $amount }, paletta { $paddle }.
standing-lost = ✕ Non è Suo. Aggiudicato a { $amount }.
standing-unsold = Invenduto.
standing-leads = ✓ È in testa con { $amount }.
standing-elsewhere = ✓ Offerta fatta sull’altro Suo dispositivo. È in testa con { $amount }.
standing-maximum = La Sua offerta massima è di { $amount }.
standing-struck = La Sua offerta è stata ritirata.
standing-outbid = ↓ Superato. Un altro offerente è in testa con { $amount }.

## Bids that were not placed
refused-equal = { $amount } è stato offerto prima di Lei. Prossima offerta { $next }.
refused-moved = Il prezzo è cambiato. Non è stato inviato nulla. Prossima offerta { $next }.
refused-leading = È già in testa. Non è stato inviato nulla. Può aumentare la Sua offerta massima.
refused-unregistered = Non è registrato a quest’asta. Non è stato inviato nulla.
refused-low = { $amount } è troppo basso. Non è stato inviato nulla. Offra { $least } o più.
refused-maximum = { $amount } non supera la Sua offerta massima, che non si può abbassare. Non è stato inviato nulla. Se è stato un errore, chiami subito la casa.
refused-limit = Oltre il Suo limite di { $limit }. Chieda alla casa. Non è stato inviato nulla: { $committed } sono impegnati in lotti in cui è in testa o che ha vinto.
refused-leads = È già in testa. Non è stato inviato nulla.
refused-paused = Le offerte sono in pausa. Non è stato inviato nulla.
refused-ended = Il lotto è terminato. La Sua offerta è arrivata troppo tardi e non conta.
refused-late = Arrivata { $seconds } s dopo la chiusura. Non conta.
refused-closed = Le offerte non sono aperte. Non è stato inviato nulla.
refused-own-lot = Lei ha affidato questo lotto alla vendita e non può fare offerte.
refused-suspended = La casa ha sospeso la Sua paletta. Non è stato inviato nulla. Contatti la casa.
refused-in-ring = Il lotto è in asta. Non è stato inviato nulla. Offra il prezzo richiesto.
refused-not-in-ring = Il lotto non è più in asta. Non è stato inviato nulla.
refused-no-commission = Non ha un’offerta scritta su questo lotto.
refused-no-buy-now = Il lotto non si può più acquistare subito. Non è stato inviato nulla.
refused-high = { $amount } è troppo alto. Non è stato inviato nulla. Offra al massimo { $most }.
refused-other-amount = Questa offerta è già stata inviata con un’altra cifra. Non è stato inviato nulla.
refused-busy = L’offerta non è stata fatta: il lotto è in fase di modifica. Riprovi.

## An offer of the house: a lot that did not sell
offer-lot = La casa Le propone il lotto { $lot } a { $amount }.
offer-until = Risponda prima di { $time }.
offer-answer = Rispondi alla proposta
offer-accept = Accetta: compra a { $amount }
offer-decline = Rifiuta
offer-confirm-decline = Conferma: rifiuta
offer-later = Decidi più tardi
offer-accepted = ✓ Ha acquistato il lotto a { $amount }. In Le mie offerte è scritto come pagare e ritirare.
offer-declined = Ha rifiutato la proposta.
offer-over = La proposta è terminata. Non è stato acquistato nulla.
offer-changed = Il lotto, o il suo prezzo con commissioni e imposte, è cambiato. Non è stato acquistato nulla. Rilegga la proposta.
offer-withdrawn = La casa ha ritirato la proposta. Non è stato acquistato nulla.
offer-accepted-before = Ha già accettato questa proposta: il lotto è Suo.
offer-declined-before = Ha già rifiutato questa proposta. Ne chieda un’altra alla casa.
offer-busy = Il lotto è in fase di modifica. Non è stato acquistato nulla. Riprovi.

## My bids
mine = Le mie offerte
mine-description = Le Sue offerte.
mine-welcome = Benvenuto. Ha effettuato l’accesso.
mine-read-at = Situazione al { $time }.
mine-latest = Mostra la più recente
mine-none-title = Ancora nessuna offerta
mine-none = I lotti su cui fa offerte o che segue appaiono qui.
mine-offered = Proposti a Lei
mine-outbid = La Sua offerta è superata
mine-leading = È in testa
mine-commission = Offerte scritte
mine-won = Aggiudicati
mine-watched = Seguiti
mine-over = Terminati
mine-is-outbid = Superato
mine-is-left = Lasciata alla casa
mine-is-won = Suo
mine-is-lost = Non Suo
mine-is-over = Terminato
mine-maximum = La Sua offerta massima { $amount }
mine-pay = Pagare e ritirare
mine-registrations = Le mie registrazioni

## Registration for a sale
register = Registrarsi per offrire
register-description = Registrazione a { $sale }.
register-as = Si registra come { $name }, { $email }.
register-change = Cambia
register-conditions = Condizioni di vendita, versione { $number }
register-accept = Ho letto le condizioni di vendita e le accetto
register-at-once = Riceve subito una paletta e può fare offerte.
register-by-staff = La casa esamina la Sua registrazione prima che possa fare offerte.
register-button = Registrati
register-not-yet = Non è ancora registrato
register-back = Torna al lotto
register-lots = Mostra i lotti
register-over = L’asta è terminata e non accetta registrazioni.
register-missing = legga le condizioni e le accetti
register-changed = la casa ha cambiato le condizioni: legga e accetti la versione attuale
register-refused = La casa non accetta la Sua registrazione. Contatti la casa.
register-approved = È registrato. La Sua paletta è la { $paddle }.
register-approved-next = Gli altri offerenti vedono questo numero e mai il Suo nome.
register-limit = Il Suo limite in quest’asta è di { $amount }.
limit-used = { $used } sono impegnati da lotti in cui è in testa o che ha vinto.
limit-title = Chiedere un limite più alto
limit-amount = Limite desiderato
limit-words = Il Suo messaggio alla casa
limit-button = Chiedere alla casa
limit-waits = Ha chiesto { $amount }. La casa non ha ancora deciso.
limit-refused = La casa non ha aumentato il Suo limite: { $reason }
limit-low = deve superare il Suo limite di { $amount }
limit-often = ha chiesto troppe volte: riprovi domani
limit-not-asked = Non ancora chiesto
register-pending = La casa sta esaminando la Sua registrazione.
register-pending-next = Può fare offerte appena la casa la approva. Allora questa pagina mostra il numero della Sua paletta.
register-declined = La casa ha rifiutato la Sua registrazione.
register-declined-next = Se ha domande, contatti la casa.
register-suspended = La casa ha sospeso la Sua paletta { $paddle }.
register-suspended-next = Contatti la casa. Le offerte fatte restano valide.

## Account
account = Account
account-title = Il Suo account
account-description = Il Suo account presso { $house }.
account-email = Indirizzo e-mail: { $email }
account-saved = Salvato.
account-kept = Le registrazioni esistenti mantengono il nome e il numero che ha la casa.
account-save = Salva
account-password = Scegli un’altra password
account-export = Esportare i miei dati
account-delete = Elimina l’account
account-delete-description = Eliminare il Suo account.
account-delete-causes = L’account termina con i suoi accessi e i lotti seguiti. Le offerte fatte restano valide, e la casa conserva i documenti dei Suoi acquisti finché la legge lo richiede. Chieda alla casa di cancellare il resto.
account-delete-keep = Mantienilo
account-not-deleted = L’account non è stato eliminato
sign-in = Accedi
sign-in-description = Acceda per fare offerte presso { $house }.
sign-in-signed-out = È uscito dall’account.
sign-in-deleted = Il Suo account è eliminato.
sign-in-wrong = L’indirizzo e-mail o la password non è corretto.
sign-in-attempts = Troppi tentativi. Riprovi tra { $minutes } min o scelga un’altra password.
sign-in-no-account = Apri un account o scegli un’altra password
sign-out = Esci
sign-up = Apri un account
sign-up-description = Apra un account per fare offerte presso { $house }.
sign-up-how = Inviamo un link al Suo indirizzo e-mail. Con il link apre il Suo account o sceglie un’altra password se ne ha già uno.
sign-up-send = Invia il link
sign-up-has-password = Ho una password
sign-up-not-sent = Nessuna e-mail è stata inviata
sign-up-mailbox = Controlli la Sua casella
sign-up-sent = Un link è in arrivo a { $email }. Vale un’ora.
sign-up-wait = Se non arriva entro qualche minuto, guardi nella cartella della posta indesiderata.
sign-up-again = Chiedi un altro link
open-title = Aprire il Suo account
open-description = { $title } presso { $house }.
open-email = Il Suo indirizzo e-mail: { $email }
open-has-account = Ha già un account presso { $house }. Con un’altra password l’accesso termina ovunque altrove.
open-save = Salva la password
open-button = Apri l’account
open-void-title = Questo link non è più valido
open-void = Il link è già stato usato o è troppo vecchio. Apra { $address } per riceverne un altro.

## Fields
field-email = Indirizzo e-mail
field-password = Password
field-password-hint = Almeno 12 caratteri.
field-name = Nome
field-name-hint = La casa lo vede. Gli altri offerenti vedono solo il numero della Sua paletta.
field-phone = Telefono
field-language = Lingua
field-language-hint = Di queste pagine e delle e-mail sul Suo account.
field-language-any = Quella del browser
field-time-zone = Fuso orario
field-time-zone-hint = Per esempio Europe/Rome. Gli orari di un’asta sono nel suo fuso e, accanto, nel Suo.
field-line1 = Indirizzo, riga 1
field-line1-hint = Un indirizzo ha almeno questa riga e un codice postale. Lasci vuote tutte le righe per non indicarne nessuno.
field-line2 = Indirizzo, riga 2
field-city = Città
field-county = Provincia
field-postcode = Codice postale
field-country = Codice del paese
field-country-hint = Due lettere di ISO 3166, per esempio IT, CH o FR. Vuoto: GB.

## What is wrong with a field
fault-empty = è vuoto: lo compili
fault-blank = inizia o finisce con uno spazio: lo tolga
fault-control = contiene un a capo o un altro carattere di controllo: lo tolga
fault-long = ha { $n } caratteri: lo accorci a { $most } al massimo
fault-unseen = contiene un carattere invisibile: lo tolga
fault-at = contiene il carattere @: scriva un nome, non un indirizzo e-mail
fault-phone = manca: la casa lo chiede
fault-address = manca: la casa chiede il Suo indirizzo
fault-line = è vuoto: un indirizzo ne ha bisogno
fault-country = non è un codice di paese: scriva due lettere, per esempio IT per l’Italia
fault-email = non è un indirizzo e-mail come ann@example.com
fault-time-zone = non è un fuso orario come Europe/Rome
fault-wrong = non è corretto
fault-short = deve avere almeno { $least } caratteri
fault-common = è facile da indovinare: ne scelga un’altra, per esempio quattro parole senza legame tra loro
fault-mails = sono state inviate troppe e-mail: riprovi tra { $minutes } minuti
fault-mail-failed = non è stato possibile inviare l’e-mail: riprovi tra qualche minuto
fault-links = sono stati chiesti troppi link: riprovi tra { $minutes } min
amount-unread = «{ $text }» non è un importo. Scriva un solo numero in { $currency }, per esempio { $example }.
amount-currency = «{ $text }» è in una valuta diversa da quella dell’asta. Scriva un solo numero in { $currency }, per esempio { $example }.
amount-ambiguous = «{ $text }» si può leggere in due modi. Scriva le migliaia senza separatore e tutti i decimali, per esempio { $example }.
amount-decimals = «{ $text }» ha troppi decimali. Lo scriva come { $example }.
amount-too-much = «{ $text }» è troppo. Scriva al massimo { $most }.
amount-none = non è un importo

## Error pages
error-request = Richiesta
error-not-found-title = Pagina non trovata
error-not-found = Forse è stata eliminata, o l’indirizzo è incompleto. Controlli l’indirizzo.
error-bad-request-title = La richiesta non è stata accettata
error-forbidden-title = Questa azione non è consentita
error-foreign-form = Il modulo proviene da un altro sito o da un browser che non ne indica l’origine. Apra la pagina { $address } e invii di nuovo il modulo.
error-method-title = Metodo non consentito
error-method = Questo indirizzo non accetta il metodo della richiesta. Torni indietro e usi i pulsanti della pagina.
error-form-title = Il modulo non è stato accettato
error-conflict-title = La modifica non è stata fatta
error-unavailable-title = Al momento non disponibile
error-unavailable = Il server al momento non raggiunge la sua banca dati. Riprovi tra qualche secondo.
error-internal-title = Errore interno
error-internal = Il server non ha potuto completare la richiesta e ha registrato l’errore. Riprovi. Se l’errore rimane, contatti il gestore di questo server.
error-closed-title = La sala è chiusa per il momento
error-closed = Le sue pagine riaprono appena il server può inviare e-mail. Nulla va perso. Per fare offerte, contatti la casa.
error-full-title = Sono aperte troppe pagine in diretta
error-full = Riapra la pagina tra qualche secondo.
error-attempts-title = Troppi tentativi
error-attempts = Attenda un po’ prima di riprovare.
error-changed = Qualcosa è cambiato nello stesso momento. Torni indietro, ricarichi la pagina e riprovi.
error-accounts-closed = La casa non accetta offerte online: la contatti.
error-watched = Segue già { $maximum } lotti, il massimo: smetta prima di seguirne uno.

## Notices
notices = Avvisi
notices-none-title = Ancora nessun avviso
notices-none = Quando la Sua offerta è superata o un Suo lotto termina, è indicato qui.
notices-choices = E-mail e avvisi
notices-saved = Salvato.
notices-mails = E-mail
notices-mails-to = A { $email }. Inviarmi un’e-mail quando …
notices-about-outbid = la mia offerta è superata
notices-about-won = un lotto è aggiudicato a me
notices-about-not-won = un lotto termina senza essere aggiudicato a me
notices-about-sale = inizia un’asta alla quale sono iscritto
notices-about-lot = un lotto che seguo sarà presentato tra poco
notices-about-registration = la casa ha deciso sulla mia iscrizione
notices-about-limit = la casa ha deciso su un limite più alto
notices-about-message = la casa mi scrive
notices-about-offer = la casa mi propone un lotto invenduto
notice-new = Nuovo
notice-close = Chiudi
notice-outbid = Offerta superata per il lotto { $lot }. Il prezzo è { $price }.
notice-outbid-only = Offerta superata per il lotto { $lot }.
notice-won = Il lotto { $lot } è Suo a { $price }.
notice-not-won = Il lotto { $lot } è stato venduto a { $price }, non a Lei.
notice-unsold = Il lotto { $lot } non è stato venduto.
notice-sale-began = L’asta è iniziata.
notice-lot-soon = Il lotto { $lot } sarà presentato tra poco.
notice-approved = La Sua iscrizione è stata accettata.
notice-suspended = La Sua iscrizione è sospesa. Contatti la casa.
notice-declined = La Sua iscrizione è stata rifiutata. Contatti la casa.
notice-limit-granted = Il Suo limite in quest’asta è ora di { $price }.
notice-message = { $house }: { $subject }
push = Avvisi in questo browser
push-detail = Appaiono anche quando nessuna pagina della sala è aperta.
push-needs = Il Suo browser non lo offre, o serve lo script della pagina. Su iPhone o iPad, aggiunga prima la pagina alla schermata Home.
push-on = Mostrare gli avvisi in questo browser
push-off = Non mostrare più avvisi qui
push-later = Non ora
push-offer = Vuole sapere quando la Sua offerta è superata, anche se questa pagina è chiusa?
push-is-on = Questo browser ora mostra i Suoi avvisi.
push-is-off = Questo browser non mostra più avvisi.
push-refused = Il browser non consente avvisi di questa pagina. Lo si può cambiare nelle sue impostazioni per questo sito.
push-browsers = { $n ->
    [one] Un browser mostra i Suoi avvisi.
   *[other] { $n } browser mostrano i Suoi avvisi.
}
notice-kind-outbid = Offerta superata
notice-kind-won = Lotto aggiudicato
notice-kind-not-won = Lotto non aggiudicato
notice-kind-sale = Inizio dell’asta
notice-kind-lot = Lotto tra poco in asta
notice-kind-registration = Iscrizione
notice-kind-limit = Limite più alto
notice-kind-message = Messaggio della casa
notice-kind-offer = Proposta della casa
push-off-all = Non mostrare più avvisi in nessun browser
end-mails = Non ricevere più e-mail
end-mails-ask = Non ricevere più e-mail di questo tipo: { $about }?
end-mails-done = Non riceve più e-mail di questo tipo: { $about }.
end-mails-all-done = Non riceve più e-mail con avvisi.
end-mails-one = Non ricevere più queste e-mail
end-mails-all = Non ricevere più alcuna e-mail con avvisi
end-mails-stays = I Suoi avvisi restano nella pagina Avvisi.

## Web sites of the house that bid for a bidder
sites = Siti collegati
sites-ended = Il sito non ha più accesso. Le offerte che ha fatto restano valide.
sites-none = Nessun sito fa offerte per Lei. Un sito che lo chiede appare qui dopo la Sua autorizzazione.
sites-about = Questi siti possono leggere le Sue offerte e fare offerte per Lei presso { $house }.
sites-end = Scollegare
sites-times = Autorizzato { $allowed }. Rinnovato { $used }. Termina { $ends }.
site-title = Autorizzare un sito
site-ask = Autorizzare { $host } a fare offerte per Lei?
site-who = Il sito { $origin } chiede di agire per Lei presso { $house }. Ha effettuato l’accesso come { $name }, { $email }.
site-may = Se lo autorizza, il sito può:
site-may-read = leggere il Suo nome, indirizzo e-mail, iscrizioni, offerte, massimi e lotti seguiti
site-may-register = iscriverLa alle aste e accettarne le condizioni per Lei
site-may-bid = fare offerte e comprare per Lei. Le sue offerte La vincolano come le Sue
site-limits = Non riceve la Sua password e non può modificare il Suo account. Il suo accesso termina dopo 30 giorni, o appena Lei lo termina in questa pagina:
site-allow = Autorizzare
site-cancel = Annulla
site-refused-title = Questo link non può essere usato
site-refused = Un sito ha chiesto di fare offerte per Lei presso { $house }, ma la casa non ha questo sito con questo indirizzo. Non gli è stato inviato nulla.
site-refused-owner = Se gestisce il sito: la sua origine e l’indirizzo di ritorno devono essere esattamente quelli registrati dalla casa.

## The script element for a house's own web site
embed-price = Prezzo
embed-more = Mostra altri lotti
embed-bid = Offri in sala
embed-look = Vedi in sala
embed-failed = Al momento non è possibile mostrare i lotti. Riprovi più tardi.

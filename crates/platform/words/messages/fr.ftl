# Les textes de la salle des ventes en français (vous). The texts of the saleroom in French.

## Around every page
site-name = Salle des ventes
skip = Aller au contenu
optional = (facultatif)
nothing-saved = Rien n’a été enregistré
colours = Couleurs
colours-system = Système
colours-light = Clair
colours-dark = Sombre
languages = Langue
nav-label = Pages de la maison
nav-sales = Ventes
nav-results = Résultats
contact-email = E-mail : { $value }
contact-telephone = Téléphone : { $value }
contact-website = Site web : { $value }
own-time = Votre heure : { $time }

## Sales of a house
sales-description = Ventes et résultats de { $house }.
sales-live = En direct
sales-open = Enchères ouvertes
sales-ended = Vient de se terminer
sales-coming = Prochaines ventes
sales-none-title = Aucune vente n’est annoncée
sales-none = La prochaine vente paraîtra ici dès que la maison l’annoncera.
sales-past = Résultats des ventes passées
sales-past-pages = Pages des ventes passées
sales-latest = Les plus récentes
sales-earlier = Ventes antérieures
sales-show = Voir les ventes
timed = Vente en ligne
timed-from = Vente en ligne, fin des lots à partir du { $time }
webcast = Vente en direct
webcast-from = Vente en direct, début { $time }
lots-count = { $n ->
    [0] Lots à venir
    [one] 1 lot
   *[other] { $n } lots
}

## Catalogue
catalogue-all = Tous les lots
catalogue-to-be-sold = À vendre
catalogue-search = Rechercher dans { $lots }
catalogue-search-button = Rechercher
catalogue-viewing = Exposition
catalogue-filter = Filtrer par résultat
catalogue-category = Catégorie
catalogue-category-any = Toutes les catégories
catalogue-price-from = Prix à partir de
catalogue-price-to = Prix jusqu’à
catalogue-price = Filtrer par prix
catalogue-further = Autres filtres
catalogue-ends-hour = Se termine dans l’heure
catalogue-ends-today = Se termine aujourd’hui
catalogue-none-title = Les lots ne sont pas encore visibles
catalogue-none = Ils paraîtront ici dès que la maison les montrera.
catalogue-no-match-title = Aucun lot trouvé
catalogue-no-match = Aucun lot de cette vente ne correspond à la recherche et au filtre.
catalogue-show-all = Voir tous les lots
catalogue-pages = Pages du catalogue
catalogue-first = Premiers lots
catalogue-next = Lots suivants
charges = En sus du prix d’adjudication : { $rates }
charge-premium = frais acheteur { $rate }
charge-hammer-tax = taxe sur le prix d’adjudication { $rate }
charge-premium-tax = taxe sur les frais { $rate }
conditions = Conditions de vente
conditions-version = Version { $number }
conditions-description = Conditions de vente de « { $sale } », version { $number }.

## A lot
lot = Lot { $number }
lot-title = Lot { $number } : { $title }
lot-picture = Photo { $n } du lot { $number }
zoom-close = Fermer
zoom-previous = Image précédente
zoom-next = Image suivante
lot-no-picture = Pas de photo
lot-estimate = Estimation { $amount }
lot-next = Prochaine enchère à partir de
lot-read-at = Prix au { $time }. Rechargez la page pour voir les derniers.
lot-contact = Pour enchérir, contactez la maison.
lot-bids = Dernières enchères
lot-neighbours = Lots voisins
lot-starts-at = Mise à prix
lot-hammer-price = Prix d’adjudication
lot-bid-count = { $n ->
    [one] Enchère actuelle, 1 enchère
   *[other] Enchère actuelle, { $n } enchères
}
lot-total = { $amount } frais et taxes compris
lot-sold = Adjugé
lot-unsold = Invendu
lot-passed = Ravalé
lot-suspended = Enchères suspendues
lot-in-ring = En vente maintenant
lot-to-come = À venir
lot-ends = Fin { $time }
lot-ends-later = Les enchères ne sont pas encore ouvertes. Fin { $time }
lot-paddle = Paddle { $number }
lot-in-room = En salle
lot-bid-withdrawn = , retirée
rule-fixed = Les enchères ne prolongent pas la fin.
rule-extends = Une enchère reçue moins de { $time } avant la fin reporte la fin à { $time } après cette enchère, chaque fois qu’il en arrive une.
duration-seconds = { $n ->
    [one] 1 seconde
   *[other] { $n } secondes
}
duration-minutes = { $n ->
    [one] 1 minute
   *[other] { $n } minutes
}
duration-hours = { $n ->
    [one] 1 heure
   *[other] { $n } heures
}

## What the script of live pages shows
live-ring-warned = En vente maintenant. Dernier appel
live-ring-paused = En vente. Enchères suspendues
live-ask = Prix demandé
live-checking = Vérification des dernières enchères…
live-withdrawn = N’est plus visible
live-clock = Horloge de la salle
live-days = { $d } j { $h } h
live-hours = { $h } h { $m } min
live-extended = Prolongé jusqu’à { $time }. Une enchère est arrivée.
live-moved = Le lot se termine maintenant à { $time }.
live-left-300 = Encore 5 minutes.
live-left-60 = Encore 1 minute.
live-left-10 = Encore 10 secondes.
live-now = Les prix de cette page sont à jour.
live-lost = Connexion perdue. Les prix peuvent être anciens.
live-link-lost = La salle a perdu la liaison. Les enchères sont suspendues.
live-back = Vous revoilà. Mise à jour…
live-over = Cette vente est terminée.
live-gone = Cette page n’est plus visible.
live-again = Rouvrir la page
stage-ring = Le lot { $lot } est en vente. Prix demandé { $amount }.
stage-warned = Lot { $lot } : dernier appel. Prix demandé { $amount }.
stage-paused = Le lot { $lot } est en vente. Enchères suspendues.
stage-sold = Lot { $lot } adjugé { $amount }.
stage-passed = Lot { $lot } ravalé.
stage-none = Aucun lot n’est en vente.
messages = Messages du commissaire-priseur
message-from = Commissaire-priseur, { $time }
film = Image en direct de la vente
film-late = L’image arrive avec retard. Fiez-vous au bouton.
film-late-about = L’image a environ { $seconds } s de retard. Fiez-vous au bouton.

## Bidding
bid-label = Votre enchère
bid-sign-in = Se connecter pour enchérir
bid-register = S’inscrire à cette vente
bid = Enchérir { $amount }
bid-confirm = Confirmer { $amount }
bid-confirm-maximum = Confirmer votre enchère maximale de { $amount }
bid-buy = Acheter à { $amount }
bid-confirm-buy = Confirmer l’achat à { $amount }
bid-withdraw = Retirer l’ordre d’achat
bid-confirm-withdraw = Confirmer le retrait
bid-set = Valider
bid-dont = Ne pas enchérir
bid-sending = Envoi…
bid-one-tap = Enchérir d’un seul geste dans cette vente
bid-watch = ☆ Suivre
bid-watched = ★ Suivi
bid-maximum = Votre enchère maximale
bid-maximum-raise = Augmenter votre enchère maximale
bid-maximum-hint = { $amount } ou plus. Nous enchérissons pour vous jusqu’à ce montant, par paliers, seulement autant qu’il faut pour mener et pour atteindre un prix de réserve de la maison.
bid-maximum-secret = Les autres ne voient que le prix, jamais votre enchère maximale.
bid-commission = Laisser un ordre d’achat
bid-commission-change = Modifier votre ordre d’achat
bid-commission-hint = { $amount } ou plus. Le commissaire-priseur enchérit pour vous jusqu’à ce montant. Vous pouvez le modifier jusqu’à la mise en vente du lot.
bid-unknown = On ne sait pas encore si votre enchère est arrivée. Vérification…
bid-expired = Pas de confirmation. Rien n’a été envoyé.
bid-moved = Le prix a changé. Rien n’a été envoyé.
bid-signed-out = Vous êtes déconnecté. Connectez-vous pour voir où vous en êtes.
bid-not-sent = Vous êtes déconnecté. Rien n’a été envoyé.
bid-rates-moved = Les frais ou les taxes ont changé. Rien n’a été envoyé. Lisez le nouveau total.
bid-received = Déjà reçue : { $amount }.
bid-sent = { $amount } : enchère envoyée.
bid-bought = ✓ Acheté { $amount }.
bid-withdrawn = Votre ordre d’achat est retiré.
standing-waiting = { $amount } : enchère envoyée. En attente du commissaire-priseur.
standing-commission = Votre ordre d’achat est de { $amount }.
standing-won = ✓ À vous pour { $amount }, paddle { $paddle }.
standing-lost = ✕ Pas à vous. Adjugé { $amount }.
standing-unsold = Invendu.
standing-leads = ✓ Vous menez à { $amount }.
standing-elsewhere = ✓ Enchère placée sur votre autre appareil. Vous menez à { $amount }.
standing-maximum = Votre enchère maximale est de { $amount }.
standing-struck = Votre enchère a été retirée.
standing-outbid = ↓ Surenchère. Un autre enchérisseur mène à { $amount }.

## Bids that were not placed
refused-equal = { $amount } a été proposé avant vous. Prochaine enchère { $next }.
refused-moved = Le prix a changé. Rien n’a été envoyé. Prochaine enchère { $next }.
refused-leading = Vous menez déjà. Rien n’a été envoyé. Vous pouvez augmenter votre enchère maximale.
refused-unregistered = Vous n’êtes pas inscrit à cette vente. Rien n’a été envoyé.
refused-low = { $amount } est trop bas. Rien n’a été envoyé. Proposez { $least } ou plus.
refused-maximum = { $amount } ne dépasse pas votre enchère maximale, qui ne peut pas être baissée. Rien n’a été envoyé. En cas d’erreur, appelez tout de suite la maison.
refused-limit = Au-delà de votre plafond de { $limit }. Demandez à la maison. Rien n’a été envoyé : { $committed } sont pris par des lots où vous menez ou qui vous sont adjugés.
refused-leads = Vous menez déjà. Rien n’a été envoyé.
refused-paused = Les enchères sont suspendues. Rien n’a été envoyé.
refused-ended = Le lot est terminé. Votre enchère est arrivée trop tard et ne compte pas.
refused-late = Arrivée { $seconds } s après la fin. Ne compte pas.
refused-closed = Les enchères ne sont pas ouvertes. Rien n’a été envoyé.
refused-own-lot = Vous êtes le vendeur de ce lot : vous ne pouvez pas enchérir.
refused-suspended = La maison a suspendu votre paddle. Rien n’a été envoyé. Contactez la maison.
refused-in-ring = Le lot est en vente. Rien n’a été envoyé. Enchérissez au prix demandé.
refused-not-in-ring = Le lot n’est plus en vente. Rien n’a été envoyé.
refused-no-commission = Vous n’avez pas d’ordre d’achat sur ce lot.
refused-no-buy-now = Le lot ne peut plus être acheté immédiatement. Rien n’a été envoyé.
refused-high = { $amount } est trop élevé. Rien n’a été envoyé. Proposez { $most } au plus.
refused-other-amount = Cette enchère a déjà été envoyée avec un autre montant. Rien n’a été envoyé.
refused-busy = L’enchère n’a pas été placée : le lot est en cours de modification. Réessayez.

## An offer of the house: a lot that did not sell
offer-lot = La maison vous propose le lot { $lot } à { $amount }.
offer-until = Répondez avant { $time }.
offer-answer = Répondre à la proposition
offer-accept = Accepter : acheter pour { $amount }
offer-decline = Refuser
offer-confirm-decline = Confirmer le refus
offer-later = Décider plus tard
offer-accepted = ✓ Vous avez acheté le lot pour { $amount }. La page Mes enchères dit comment payer et retirer.
offer-declined = Vous avez refusé la proposition.
offer-over = La proposition a pris fin. Rien n’a été acheté.
offer-changed = Le lot, ou son prix avec frais et taxes, a changé. Rien n’a été acheté. Relisez la proposition.
offer-withdrawn = La maison a retiré la proposition. Rien n’a été acheté.
offer-accepted-before = Vous avez déjà accepté cette proposition : le lot est à vous.
offer-declined-before = Vous avez déjà refusé cette proposition. Demandez-en une autre à la maison.
offer-busy = Le lot est en cours de modification. Rien n’a été acheté. Réessayez.

## My bids
mine = Mes enchères
mine-description = Vos enchères.
mine-welcome = Bienvenue. Vous êtes connecté.
mine-read-at = État au { $time }.
mine-latest = Voir le dernier état
mine-none-title = Pas encore d’enchères
mine-none = Les lots sur lesquels vous enchérissez ou que vous suivez paraissent ici.
mine-offered = Proposés à vous
mine-outbid = Quelqu’un a surenchéri
mine-leading = Vous menez
mine-commission = Ordres d’achat
mine-won = Adjugés
mine-watched = Suivis
mine-over = Terminés
mine-is-outbid = Surenchère
mine-is-left = Remis à la maison
mine-is-won = À vous
mine-is-lost = Pas à vous
mine-is-over = Terminé
mine-maximum = Votre enchère maximale { $amount }
mine-pay = Payer et retirer
mine-registrations = Mes inscriptions

## Registration for a sale
register = S’inscrire pour enchérir
register-description = Inscription à { $sale }.
register-as = Vous vous inscrivez en tant que { $name }, { $email }.
register-change = Modifier
register-conditions = Conditions de vente, version { $number }
register-accept = J’ai lu les conditions de vente et je les accepte
register-at-once = Vous recevez tout de suite un numéro de paddle et pouvez enchérir.
register-by-staff = La maison examine votre inscription avant que vous puissiez enchérir.
register-button = S’inscrire
register-not-yet = Vous n’êtes pas encore inscrit
register-back = Retour au lot
register-lots = Voir les lots
register-over = La vente est terminée et n’accepte plus d’inscriptions.
register-missing = lisez les conditions et acceptez-les
register-changed = la maison a modifié les conditions : lisez et acceptez la version actuelle
register-refused = La maison n’accepte pas votre inscription. Contactez la maison.
register-approved = Vous êtes inscrit. Votre numéro de paddle est { $paddle }.
register-approved-next = Les autres enchérisseurs voient ce numéro et jamais votre nom.
register-limit = Votre plafond dans cette vente est de { $amount }.
limit-used = { $used } en sont pris par des lots que vous menez ou avez remportés.
limit-title = Demander un plafond plus élevé
limit-amount = Plafond souhaité
limit-words = Votre message à la maison
limit-button = Demander à la maison
limit-waits = Vous avez demandé { $amount }. La maison n’a pas encore décidé.
limit-refused = La maison n’a pas relevé votre plafond : { $reason }
limit-low = doit dépasser votre plafond de { $amount }
limit-often = vous avez demandé trop souvent : réessayez demain
limit-not-asked = Rien n’est encore demandé
register-pending = La maison examine votre inscription.
register-pending-next = Vous pourrez enchérir dès que la maison l’aura acceptée. Cette page affichera alors votre numéro de paddle.
register-declined = La maison a refusé votre inscription.
register-declined-next = Pour toute question, contactez la maison.
register-suspended = La maison a suspendu votre paddle { $paddle }.
register-suspended-next = Contactez la maison. Les enchères placées restent valables.

## Account
account = Compte
account-title = Votre compte
account-description = Votre compte chez { $house }.
account-email = Adresse e-mail : { $email }
account-saved = Enregistré.
account-kept = Vos inscriptions existantes gardent le nom et le numéro que la maison possède.
account-save = Enregistrer
account-password = Choisir un autre mot de passe
account-export = Exporter mes données
account-delete = Supprimer le compte
account-delete-description = Supprimer votre compte.
account-delete-causes = Le compte prend fin avec ses connexions et ses lots suivis. Les enchères placées restent valables, et la maison garde les pièces de vos achats aussi longtemps que la loi l’exige. Demandez à la maison d’effacer le reste.
account-delete-keep = Le garder
account-not-deleted = Le compte n’a pas été supprimé
sign-in = Se connecter
sign-in-description = Connectez-vous pour enchérir chez { $house }.
sign-in-signed-out = Vous êtes déconnecté.
sign-in-deleted = Votre compte est supprimé.
sign-in-wrong = L’adresse e-mail ou le mot de passe est incorrect.
sign-in-attempts = Trop d’essais. Réessayez dans { $minutes } min ou choisissez un autre mot de passe.
sign-in-no-account = Ouvrir un compte ou choisir un autre mot de passe
sign-out = Se déconnecter
sign-up = Ouvrir un compte
sign-up-description = Ouvrez un compte pour enchérir chez { $house }.
sign-up-how = Nous envoyons un lien à votre adresse e-mail. Il ouvre votre compte ou vous permet de choisir un autre mot de passe si vous en avez déjà un.
sign-up-send = Envoyer le lien
sign-up-has-password = J’ai un mot de passe
sign-up-not-sent = Aucun e-mail n’a été envoyé
sign-up-mailbox = Consultez votre boîte de réception
sign-up-sent = Un lien est en route vers { $email }. Il est valable une heure.
sign-up-wait = S’il n’arrive pas en quelques minutes, regardez dans le dossier des courriers indésirables.
sign-up-again = Demander un autre lien
open-title = Ouvrir votre compte
open-description = { $title } chez { $house }.
open-email = Votre adresse e-mail : { $email }
open-has-account = Vous avez un compte chez { $house }. Avec un autre mot de passe, vous serez déconnecté partout ailleurs.
open-save = Enregistrer le mot de passe
open-button = Ouvrir le compte
open-void-title = Ce lien n’est plus valable
open-void = Le lien a déjà été utilisé ou il est trop ancien. Ouvrez { $address } pour en recevoir un autre.

## Fields
field-email = Adresse e-mail
field-password = Mot de passe
field-password-hint = Au moins 12 caractères.
field-name = Nom
field-name-hint = La maison le voit. Les autres enchérisseurs ne voient que votre numéro de paddle.
field-phone = Téléphone
field-language = Langue
field-language-hint = De ces pages et des e-mails sur votre compte.
field-language-any = Celle du navigateur
field-time-zone = Fuseau horaire
field-time-zone-hint = Par exemple Europe/Paris. Les heures d’une vente sont dans son fuseau, et à côté dans le vôtre.
field-line1 = Adresse, ligne 1
field-line1-hint = Une adresse a au moins cette ligne et un code postal. Laissez toutes les lignes vides pour n’en donner aucune.
field-line2 = Adresse, ligne 2
field-city = Ville
field-county = Région
field-postcode = Code postal
field-country = Code du pays
field-country-hint = Deux lettres de la norme ISO 3166, par exemple FR, BE ou CH. Vide : GB.

## What is wrong with a field
fault-empty = est vide : à remplir
fault-blank = commence ou finit par une espace : supprimez-la
fault-control = contient un saut de ligne ou un autre caractère de contrôle : supprimez-le
fault-long = a { $n } caractères : raccourcissez à { $most } au plus
fault-unseen = contient un caractère invisible : supprimez-le
fault-at = contient le caractère @ : écrivez un nom, pas une adresse e-mail
fault-phone = manque : la maison le demande
fault-address = manque : la maison demande votre adresse
fault-line = est vide : une adresse en a besoin
fault-country = n’est pas un code de pays : écrivez deux lettres, par exemple FR pour la France
fault-email = n’est pas une adresse e-mail comme ann@example.com
fault-time-zone = n’est pas un fuseau horaire comme Europe/Paris
fault-wrong = est incorrect
fault-short = doit avoir au moins { $least } caractères
fault-common = est facile à deviner : choisissez-en un autre, par exemple quatre mots sans rapport entre eux
fault-mails = trop d’e-mails ont été envoyés : réessayez dans { $minutes } minutes
fault-mail-failed = l’e-mail n’a pas pu être envoyé : réessayez dans quelques minutes
fault-links = trop de liens ont été demandés : réessayez dans { $minutes } min
amount-unread = « { $text } » n’est pas un montant. Écrivez un seul nombre en { $currency }, par exemple { $example }.
amount-currency = « { $text } » est dans une autre monnaie que la vente. Écrivez un seul nombre en { $currency }, par exemple { $example }.
amount-ambiguous = « { $text } » peut se lire de deux façons. Écrivez les milliers sans séparateur et toutes les décimales, par exemple { $example }.
amount-decimals = « { $text } » a trop de décimales. Écrivez le montant comme { $example }.
amount-too-much = « { $text } » est trop. Écrivez { $most } au plus.
amount-none = n’est pas un montant

## Error pages
error-request = Requête
error-not-found-title = Page introuvable
error-not-found = Elle a peut-être été supprimée, ou l’adresse est incomplète. Vérifiez l’adresse.
error-bad-request-title = La requête n’a pas été acceptée
error-forbidden-title = Cette action n’est pas permise
error-foreign-form = Le formulaire vient d’un autre site ou d’un navigateur qui n’indique pas son origine. Ouvrez la page { $address } et envoyez de nouveau le formulaire.
error-method-title = Méthode non permise
error-method = Cette adresse n’accepte pas la méthode de la requête. Revenez en arrière et utilisez les boutons de la page.
error-form-title = Le formulaire n’a pas été accepté
error-conflict-title = La modification n’a pas été faite
error-unavailable-title = Indisponible pour le moment
error-unavailable = Le serveur ne peut pas joindre sa base de données pour le moment. Réessayez dans quelques secondes.
error-internal-title = Erreur interne
error-internal = Le serveur n’a pas pu traiter la requête et a noté l’erreur. Réessayez. Si l’erreur persiste, contactez l’exploitant de ce serveur.
error-closed-title = La salle des ventes est fermée pour le moment
error-closed = Ses pages rouvriront dès que le serveur pourra envoyer des e-mails. Rien n’est perdu. Pour enchérir, contactez la maison.
error-full-title = Trop de pages en direct sont ouvertes
error-full = Rouvrez la page dans quelques secondes.
error-attempts-title = Trop d’essais
error-attempts = Attendez un peu avant de réessayer.
error-changed = Quelque chose a changé en même temps. Revenez en arrière, rechargez la page et réessayez.
error-accounts-closed = La maison n’accepte pas d’enchères en ligne : contactez-la.
error-watched = Vous suivez déjà { $maximum } lots, le maximum : cessez d’abord d’en suivre un.

## Notices
notices = Avis
notices-none-title = Aucun avis
notices-none = Quand votre enchère est dépassée ou qu’un de vos lots se termine, c’est indiqué ici.
notices-choices = E-mails et avis
notices-saved = Enregistré.
notices-mails = E-mails
notices-mails-to = À { $email }. M’envoyer un e-mail quand …
notices-about-outbid = mon enchère est dépassée
notices-about-won = un lot m’est adjugé
notices-about-not-won = un lot se termine sans m’être adjugé
notices-about-sale = une vente à laquelle je suis inscrit commence
notices-about-lot = un lot que je suis sera bientôt présenté
notices-about-registration = la maison a décidé de mon inscription
notices-about-limit = la maison a décidé d’un plafond plus élevé
notices-about-message = la maison m’écrit
notices-about-offer = la maison me propose un lot invendu
notice-new = Nouveau
notice-close = Fermer
notice-outbid = Enchère dépassée sur le lot { $lot }. Le prix est de { $price }.
notice-outbid-only = Enchère dépassée sur le lot { $lot }.
notice-won = Le lot { $lot } est à vous, à { $price }.
notice-not-won = Le lot { $lot } a été vendu { $price }, pas à vous.
notice-unsold = Le lot { $lot } n’a pas été vendu.
notice-sale-began = La vente a commencé.
notice-lot-soon = Le lot { $lot } sera bientôt présenté.
notice-approved = Votre inscription est acceptée.
notice-suspended = Votre inscription est suspendue. Contactez la maison.
notice-declined = Votre inscription est refusée. Contactez la maison.
notice-limit-granted = Votre plafond dans cette vente est désormais de { $price }.
notice-message = { $house } : { $subject }
push = Avis dans ce navigateur
push-detail = Ils apparaissent aussi quand aucune page de la salle n’est ouverte.
push-needs = Votre navigateur ne le propose pas, ou il faut le script de la page. Sur un iPhone ou un iPad, ajoutez d’abord la page à l’écran d’accueil.
push-on = Afficher les avis dans ce navigateur
push-off = Ne plus afficher d’avis ici
push-later = Pas maintenant
push-offer = Voulez-vous savoir quand votre enchère est dépassée, même si cette page est fermée ?
push-is-on = Ce navigateur affiche maintenant vos avis.
push-is-off = Ce navigateur n’affiche plus d’avis.
push-refused = Le navigateur n’autorise pas les avis de cette page. Ses réglages pour ce site permettent de le changer.
push-browsers = { $n ->
    [one] Un navigateur affiche vos avis.
   *[other] { $n } navigateurs affichent vos avis.
}
notice-kind-outbid = Enchère dépassée
notice-kind-won = Lot adjugé à vous
notice-kind-not-won = Lot non adjugé à vous
notice-kind-sale = Début de la vente
notice-kind-lot = Lot bientôt présenté
notice-kind-registration = Inscription
notice-kind-limit = Plafond plus élevé
notice-kind-message = Message de la maison
notice-kind-offer = Proposition de la maison
push-off-all = Ne plus afficher d’avis dans aucun navigateur
end-mails = Ne plus recevoir d’e-mails
end-mails-ask = Ne plus recevoir ce type d’e-mails : { $about } ?
end-mails-done = Vous ne recevez plus ce type d’e-mails : { $about }.
end-mails-all-done = Vous ne recevez plus d’e-mails contenant des avis.
end-mails-one = Ne plus recevoir ces e-mails
end-mails-all = Ne plus recevoir aucun e-mail contenant des avis
end-mails-stays = Vos avis restent sur la page Avis.

## Web sites of the house that bid for a bidder
sites = Sites connectés
sites-ended = Le site n’a plus d’accès. Les enchères qu’il a portées restent valables.
sites-none = Aucun site n’enchérit pour vous. Un site qui le demande apparaît ici une fois que vous l’avez autorisé.
sites-about = Ces sites peuvent lire vos enchères et enchérir pour vous chez { $house }.
sites-end = Déconnecter
sites-times = Autorisé { $allowed }. Renouvelé { $used }. Prend fin { $ends }.
site-title = Autoriser un site
site-ask = Autoriser { $host } à enchérir pour vous ?
site-who = Le site { $origin } demande à agir pour vous chez { $house }. Vous êtes connecté en tant que { $name }, { $email }.
site-may = Si vous l’autorisez, le site peut :
site-may-read = lire votre nom, votre adresse e-mail, vos inscriptions, enchères, maximums et lots suivis
site-may-register = vous inscrire à des ventes et accepter leurs conditions pour vous
site-may-bid = enchérir et acheter pour vous. Ses enchères vous engagent comme les vôtres
site-limits = Il ne reçoit pas votre mot de passe et ne peut pas modifier votre compte. Son accès prend fin après 30 jours, ou dès que vous y mettez fin sur cette page :
site-allow = Autoriser
site-cancel = Annuler
site-refused-title = Ce lien ne peut pas être utilisé
site-refused = Un site a demandé à enchérir pour vous chez { $house }, mais la maison ne connaît pas ce site avec cette adresse. Rien ne lui a été envoyé.
site-refused-owner = Si vous gérez ce site : son origine et l’adresse de retour doivent être exactement celles que la maison a enregistrées.

## The script element for a house's own web site
embed-price = Prix
embed-more = Afficher plus de lots
embed-bid = Enchérir dans la salle des ventes
embed-look = Voir dans la salle des ventes
embed-failed = Les lots ne peuvent pas être affichés pour le moment. Réessayez plus tard.

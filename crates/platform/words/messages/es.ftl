# Los textos de la sala en español (usted). The texts of the saleroom in Spanish.

## Around every page
site-name = Sala de subastas
skip = Ir al contenido
optional = (opcional)
nothing-saved = No se ha guardado nada
colours = Colores
colours-system = Sistema
colours-light = Claro
colours-dark = Oscuro
languages = Idioma
nav-label = Páginas de la casa
nav-sales = Subastas
nav-results = Resultados
contact-email = Correo electrónico: { $value }
contact-telephone = Teléfono: { $value }
contact-website = Sitio web: { $value }
own-time = Su hora: { $time }

## Sales of a house
sales-description = Subastas y resultados de { $house }.
sales-live = En directo
sales-open = Abiertas a pujas
sales-ended = Recién terminadas
sales-coming = Próximas subastas
sales-none-title = No hay subastas anunciadas
sales-none = La próxima subasta aparecerá aquí en cuanto la casa la anuncie.
sales-past = Resultados de subastas pasadas
sales-past-pages = Páginas de subastas pasadas
sales-latest = Las más recientes
sales-earlier = Subastas anteriores
sales-show = Ver las subastas
timed = Subasta en línea
timed-from = Subasta en línea, los lotes terminan desde { $time }
webcast = Subasta en directo
webcast-from = Subasta en directo, comienza { $time }
lots-count = { $n ->
    [0] Lotes por anunciar
    [one] 1 lote
   *[other] { $n } lotes
}

## Catalogue
catalogue-all = Todos los lotes
catalogue-to-be-sold = Por vender
catalogue-search = Buscar en { $lots }
catalogue-search-button = Buscar
catalogue-viewing = Exposición
catalogue-filter = Filtrar por resultado
catalogue-category = Categoría
catalogue-category-any = Todas las categorías
catalogue-price-from = Precio desde
catalogue-price-to = Precio hasta
catalogue-price = Filtrar por precio
catalogue-further = Más filtros
catalogue-ends-hour = Termina en la próxima hora
catalogue-ends-today = Termina hoy
catalogue-none-title = Los lotes aún no están a la vista
catalogue-none = Aparecerán aquí en cuanto la casa los muestre.
catalogue-no-match-title = Ningún lote coincide
catalogue-no-match = Ningún lote de esta subasta coincide con la búsqueda y el filtro.
catalogue-show-all = Ver todos los lotes
catalogue-pages = Páginas del catálogo
catalogue-first = Primeros lotes
catalogue-next = Lotes siguientes
charges = Se suman al precio de remate: { $rates }
charge-premium = comisión del comprador { $rate }
charge-hammer-tax = impuesto sobre el precio de remate { $rate }
charge-premium-tax = impuesto sobre la comisión { $rate }
conditions = Condiciones de venta
conditions-version = Versión { $number }
conditions-description = Condiciones de venta de «{ $sale }», versión { $number }.

## A lot
lot = Lote { $number }
lot-title = Lote { $number }: { $title }
lot-picture = Imagen { $n } del lote { $number }
zoom-close = Cerrar
zoom-previous = Imagen anterior
zoom-next = Imagen siguiente
lot-no-picture = Sin imagen
lot-estimate = Estimación { $amount }
lot-next = Próxima puja desde
lot-read-at = Precios a { $time }. Vuelva a cargar la página para ver los últimos.
lot-contact = Para pujar, contacte con la casa.
lot-bids = Últimas pujas
lot-neighbours = Lotes contiguos
lot-starts-at = Precio de salida
lot-hammer-price = Precio de remate
lot-bid-count = { $n ->
    [one] Puja actual, 1 puja
   *[other] Puja actual, { $n } pujas
}
lot-total = { $amount } con comisión e impuestos
lot-sold = Adjudicado
lot-unsold = No vendido
lot-passed = Retirado sin venta
lot-suspended = Pujas en pausa
lot-in-ring = En subasta ahora
lot-to-come = Por subastar
lot-ends = Termina { $time }
lot-ends-later = Las pujas aún no están abiertas. Termina { $time }
lot-paddle = Paleta { $number }
lot-in-room = En la sala
lot-bid-withdrawn = , retirada
rule-fixed = Las pujas no prolongan el final.
rule-extends = Una puja recibida menos de { $time } antes del final lo aplaza hasta { $time } después de esa puja, cada vez que llega una.
duration-seconds = { $n ->
    [one] 1 segundo
   *[other] { $n } segundos
}
duration-minutes = { $n ->
    [one] 1 minuto
   *[other] { $n } minutos
}
duration-hours = { $n ->
    [one] 1 hora
   *[other] { $n } horas
}

## What the script of live pages shows
live-ring-warned = En subasta ahora. Último aviso
live-ring-paused = En subasta. Pujas en pausa
live-ask = Precio pedido
live-checking = Comprobando las últimas pujas…
live-withdrawn = Ya no está a la vista
live-clock = Reloj de la sala
live-days = { $d } d { $h } h
live-hours = { $h } h { $m } min
live-extended = Prolongado hasta { $time }. Ha llegado una puja.
live-moved = El lote termina ahora a las { $time }.
live-left-300 = Quedan 5 minutos.
live-left-60 = Queda 1 minuto.
live-left-10 = Quedan 10 segundos.
live-now = Los precios de esta página están al día.
live-lost = Conexión perdida. Los precios pueden ser antiguos.
live-link-lost = La sala ha perdido la conexión. Las pujas están en pausa.
live-back = Hola de nuevo. Actualizando…
live-over = Esta subasta ha terminado.
live-gone = Esta página ya no está a la vista.
live-again = Volver a abrir la página
stage-ring = El lote { $lot } está en subasta. Precio pedido { $amount }.
stage-warned = Lote { $lot }: último aviso. Precio pedido { $amount }.
stage-paused = El lote { $lot } está en subasta. Pujas en pausa.
stage-sold = Lote { $lot } adjudicado en { $amount }.
stage-passed = Lote { $lot } retirado sin venta.
stage-none = Ningún lote está en subasta.
messages = Mensajes del subastador
message-from = Subastador, { $time }
film = Imagen en directo de la subasta
film-late = La imagen llega con retraso. Fíese del botón.
film-late-about = La imagen llega con unos { $seconds } s de retraso. Fíese del botón.

## Bidding
bid-label = Su puja
bid-sign-in = Iniciar sesión para pujar
bid-register = Registrarse en esta subasta
bid = Pujar { $amount }
bid-confirm = Confirmar { $amount }
bid-confirm-maximum = Confirmar su puja máxima de { $amount }
bid-buy = Comprar ya por { $amount }
bid-confirm-buy = Confirmar compra por { $amount }
bid-withdraw = Retirar la puja por escrito
bid-confirm-withdraw = Confirmar la retirada
bid-set = Fijar
bid-dont = No pujar
bid-sending = Enviando…
bid-one-tap = Pujar con un solo toque en esta subasta
bid-watch = ☆ Seguir
bid-watched = ★ Seguido
bid-maximum = Su puja máxima
bid-maximum-raise = Subir su puja máxima
bid-maximum-hint = { $amount } o más. Pujamos por usted hasta esa cantidad, por tramos y solo lo necesario para ir en cabeza y alcanzar un precio de reserva de la casa.
bid-maximum-secret = Los demás solo ven el precio, nunca su puja máxima.
bid-commission = Dejar una puja por escrito
bid-commission-change = Cambiar su puja por escrito
bid-commission-hint = { $amount } o más. El subastador puja por usted hasta esa cantidad. Puede cambiarla hasta que el lote salga a subasta.
bid-unknown = Aún no se sabe si su puja ha llegado. Comprobando…
bid-expired = Sin confirmar. No se ha enviado nada.
bid-moved = El precio ha cambiado. No se ha enviado nada.
bid-signed-out = Su sesión está cerrada. Inicie sesión para ver su situación.
bid-not-sent = Su sesión está cerrada. No se ha enviado nada.
bid-rates-moved = La comisión o los impuestos han cambiado. No se ha enviado nada. Lea el nuevo total.
bid-received = Ya recibida: { $amount }.
bid-sent = Enviada: { $amount }.
bid-bought = ✓ Comprado por { $amount }.
bid-withdrawn = Su puja por escrito está retirada.
standing-waiting = Enviada: { $amount }. A la espera del subastador.
standing-commission = Su puja por escrito es de { $amount }.
standing-won = ✓ Suyo por { $amount }, paleta { $paddle }.
standing-lost = ✕ No es suyo. Adjudicado en { $amount }.
standing-unsold = No vendido.
standing-leads = ✓ Va en cabeza con { $amount }.
standing-elsewhere = ✓ Puja hecha en su otro dispositivo. Va en cabeza con { $amount }.
standing-maximum = Su puja máxima es de { $amount }.
standing-struck = Su puja fue retirada.
standing-outbid = ↓ Superado. Otro postor va en cabeza con { $amount }.

## Bids that were not placed
refused-equal = { $amount } se pujó antes que usted. Próxima puja { $next }.
refused-moved = El precio ha cambiado. No se ha enviado nada. Próxima puja { $next }.
refused-leading = Ya va en cabeza. No se ha enviado nada. Puede subir su puja máxima.
refused-unregistered = No está registrado en esta subasta. No se ha enviado nada.
refused-low = { $amount } es demasiado bajo. No se ha enviado nada. Puje { $least } o más.
refused-maximum = { $amount } no supera su puja máxima, que no se puede bajar. No se ha enviado nada. Si fue un error, llame a la casa enseguida.
refused-limit = Supera su límite de { $limit }. Consulte a la casa. No se ha enviado nada: { $committed } están comprometidos en lotes en los que va en cabeza o que ha ganado.
refused-leads = Ya va en cabeza. No se ha enviado nada.
refused-paused = Las pujas están en pausa. No se ha enviado nada.
refused-ended = El lote ha terminado. Su puja llegó demasiado tarde y no cuenta.
refused-late = Llegó { $seconds } s después del cierre. No cuenta.
refused-closed = Las pujas no están abiertas. No se ha enviado nada.
refused-own-lot = Usted entregó este lote para la venta y no puede pujar por él.
refused-suspended = La casa ha suspendido su paleta. No se ha enviado nada. Contacte con la casa.
refused-in-ring = El lote está en subasta. No se ha enviado nada. Puje el precio pedido.
refused-not-in-ring = El lote ya no está en subasta. No se ha enviado nada.
refused-no-commission = No tiene ninguna puja por escrito en este lote.
refused-no-buy-now = El lote ya no se puede comprar al momento. No se ha enviado nada.
refused-high = { $amount } es demasiado alto. No se ha enviado nada. Puje { $most } como máximo.
refused-other-amount = Esta puja ya se envió con otra cantidad. No se ha enviado nada.
refused-busy = La puja no se ha hecho: el lote se está modificando. Inténtelo de nuevo.

## An offer of the house: a lot that did not sell
offer-lot = La casa le ofrece el lote { $lot } por { $amount }.
offer-until = Responda antes de { $time }.
offer-answer = Responder a la oferta
offer-accept = Aceptar: comprar por { $amount }
offer-decline = Rechazar
offer-confirm-decline = Confirmar: rechazar
offer-later = Decidir más tarde
offer-accepted = ✓ Ha comprado el lote por { $amount }. En Mis pujas se indica cómo pagar y recoger.
offer-declined = Ha rechazado la oferta.
offer-over = La oferta ha terminado. No se ha comprado nada.
offer-changed = El lote, o su precio con la comisión y los impuestos, ha cambiado. No se ha comprado nada. Lea la oferta de nuevo.
offer-withdrawn = La casa ha retirado la oferta. No se ha comprado nada.
offer-accepted-before = Ya aceptó esta oferta: el lote es suyo.
offer-declined-before = Ya rechazó esta oferta. Pida otra a la casa.
offer-busy = El lote se está modificando. No se ha comprado nada. Inténtelo de nuevo.

## My bids
mine = Mis pujas
mine-description = Sus pujas.
mine-welcome = Le damos la bienvenida. Su sesión está iniciada.
mine-read-at = A { $time }.
mine-latest = Ver lo último
mine-none-title = Todavía no hay pujas
mine-none = Los lotes en los que puje o que siga aparecerán aquí.
mine-offered = Ofrecidos a usted
mine-outbid = Han superado su puja
mine-leading = Va en cabeza
mine-commission = Pujas por escrito
mine-won = Ganados
mine-watched = Seguidos
mine-over = Terminados
mine-is-outbid = Superado
mine-is-left = En poder de la casa
mine-is-won = Suyo
mine-is-lost = No es suyo
mine-is-over = Terminado
mine-maximum = Su puja máxima { $amount }
mine-pay = Pagar y recoger
mine-registrations = Mis registros

## Registration for a sale
register = Registrarse para pujar
register-description = Registro en { $sale }.
register-as = Se registra como { $name }, { $email }.
register-change = Cambiar
register-conditions = Condiciones de venta, versión { $number }
register-accept = He leído las condiciones de venta y las acepto
register-at-once = Recibe una paleta al momento y puede pujar.
register-by-staff = La casa revisa su registro antes de que pueda pujar.
register-button = Registrarse
register-not-yet = Aún no está registrado
register-back = Volver al lote
register-lots = Ver los lotes
register-over = La subasta ha terminado y no admite registros.
register-missing = lea las condiciones y acéptelas
register-changed = la casa ha cambiado las condiciones: lea y acepte la versión actual
register-refused = La casa no acepta su registro. Contacte con la casa.
register-approved = Está registrado. Su paleta es la { $paddle }.
register-approved-next = Los demás postores ven este número y nunca su nombre.
register-limit = Su límite en esta subasta es de { $amount }.
limit-used = { $used } están ocupados por lotes en los que va ganando o que ha ganado.
limit-title = Pedir un límite más alto
limit-amount = Límite que necesita
limit-words = Su mensaje a la casa
limit-button = Pedirlo a la casa
limit-waits = Ha pedido { $amount }. La casa aún no ha decidido.
limit-refused = La casa no ha aumentado su límite: { $reason }
limit-low = debe ser mayor que su límite de { $amount }
limit-often = lo ha pedido demasiadas veces: inténtelo mañana
limit-not-asked = Aún no se ha pedido
register-pending = La casa está revisando su registro.
register-pending-next = Podrá pujar en cuanto la casa lo apruebe. Entonces esta página mostrará su número de paleta.
register-declined = La casa ha rechazado su registro.
register-declined-next = Si tiene preguntas, contacte con la casa.
register-suspended = La casa ha suspendido su paleta { $paddle }.
register-suspended-next = Contacte con la casa. Las pujas hechas siguen siendo válidas.

## Account
account = Cuenta
account-title = Su cuenta
account-description = Su cuenta en { $house }.
account-email = Correo electrónico: { $email }
account-saved = Guardado.
account-kept = Los registros que ya tiene conservan el nombre y el número que tiene la casa.
account-save = Guardar
account-password = Elegir otra contraseña
account-export = Exportar mis datos
account-delete = Eliminar la cuenta
account-delete-description = Eliminar su cuenta.
account-delete-causes = La cuenta termina junto con sus sesiones y lotes seguidos. Las pujas hechas siguen siendo válidas, y la casa conserva los documentos de sus compras mientras la ley lo exija. Pida a la casa que borre lo demás.
account-delete-keep = Conservarla
account-not-deleted = La cuenta no se ha eliminado
sign-in = Iniciar sesión
sign-in-description = Inicie sesión para pujar en { $house }.
sign-in-signed-out = Ha cerrado la sesión.
sign-in-deleted = Su cuenta está eliminada.
sign-in-wrong = El correo electrónico o la contraseña no son correctos.
sign-in-attempts = Demasiados intentos. Inténtelo de nuevo en { $minutes } min o elija otra contraseña.
sign-in-no-account = Abrir una cuenta o elegir otra contraseña
sign-out = Cerrar sesión
sign-up = Abrir una cuenta
sign-up-description = Abra una cuenta para pujar en { $house }.
sign-up-how = Enviamos un enlace a su correo electrónico. Con él abre su cuenta o elige otra contraseña si ya tiene una.
sign-up-send = Enviar el enlace
sign-up-has-password = Tengo contraseña
sign-up-not-sent = No se ha enviado ningún correo
sign-up-mailbox = Mire su buzón
sign-up-sent = Un enlace va de camino a { $email }. Es válido durante una hora.
sign-up-wait = Si no llega en unos minutos, mire en la carpeta de correo no deseado.
sign-up-again = Pedir otro enlace
open-title = Abrir su cuenta
open-description = { $title } en { $house }.
open-email = Su correo electrónico: { $email }
open-has-account = Ya tiene una cuenta en { $house }. Con otra contraseña se cierra la sesión en todos los demás sitios.
open-save = Guardar la contraseña
open-button = Abrir la cuenta
open-void-title = Este enlace ya no es válido
open-void = El enlace ya se ha usado o es demasiado antiguo. Abra { $address } para recibir otro.

## Fields
field-email = Correo electrónico
field-password = Contraseña
field-password-hint = Al menos 12 caracteres.
field-name = Nombre
field-name-hint = La casa lo ve. Los demás postores solo ven su número de paleta.
field-phone = Teléfono
field-language = Idioma
field-language-hint = De estas páginas y de los correos sobre su cuenta.
field-language-any = El del navegador
field-time-zone = Zona horaria
field-time-zone-hint = Por ejemplo, Europe/Madrid. Las horas de una subasta se muestran en su zona y, al lado, en la suya.
field-line1 = Dirección, línea 1
field-line1-hint = Una dirección tiene al menos esta línea y un código postal. Deje todas vacías si no indica ninguna.
field-line2 = Dirección, línea 2
field-city = Ciudad
field-county = Provincia
field-postcode = Código postal
field-country = Código de país
field-country-hint = Dos letras de ISO 3166, por ejemplo ES, PT o FR. Vacío: GB.

## What is wrong with a field
fault-empty = está vacío: rellénelo
fault-blank = empieza o termina con un espacio: quítelo
fault-control = contiene un salto de línea u otro carácter de control: quítelo
fault-long = tiene { $n } caracteres: acórtelo a { $most } como máximo
fault-unseen = contiene un carácter invisible: quítelo
fault-at = contiene el carácter @: escriba un nombre, no un correo electrónico
fault-phone = falta: la casa lo pide
fault-address = falta: la casa pide su dirección
fault-line = está vacío: una dirección lo necesita
fault-country = no es un código de país: escriba dos letras, por ejemplo ES para España
fault-email = no es un correo electrónico como ann@example.com
fault-time-zone = no es una zona horaria como Europe/Madrid
fault-wrong = no es correcto
fault-short = debe tener al menos { $least } caracteres
fault-common = es fácil de adivinar: elija otra, por ejemplo cuatro palabras sin relación entre sí
fault-mails = se han enviado demasiados correos: inténtelo de nuevo en { $minutes } minutos
fault-mail-failed = no se pudo enviar el correo: inténtelo de nuevo en unos minutos
fault-links = se han pedido demasiados enlaces: inténtelo de nuevo en { $minutes } min
amount-unread = «{ $text }» no es una cantidad. Escriba un solo número en { $currency }, por ejemplo { $example }.
amount-currency = «{ $text }» está en otra moneda que la subasta. Escriba un solo número en { $currency }, por ejemplo { $example }.
amount-ambiguous = «{ $text }» se puede leer de dos maneras. Escriba los miles sin separador y todos los decimales, por ejemplo { $example }.
amount-decimals = «{ $text }» tiene demasiados decimales. Escríbalo como { $example }.
amount-too-much = «{ $text }» es demasiado. Escriba { $most } como máximo.
amount-none = no es una cantidad

## Error pages
error-request = Solicitud
error-not-found-title = Página no encontrada
error-not-found = Puede que se haya eliminado o que la dirección esté incompleta. Compruebe la dirección.
error-bad-request-title = La solicitud no se ha aceptado
error-forbidden-title = Esto no está permitido
error-foreign-form = El formulario procede de otro sitio o de un navegador que no indica su origen. Abra la página { $address } y envíe de nuevo el formulario.
error-method-title = Método no permitido
error-method = Esta dirección no admite el método de la solicitud. Vuelva atrás y use los botones de la página.
error-form-title = El formulario no se ha aceptado
error-conflict-title = El cambio no se ha hecho
error-unavailable-title = No disponible por ahora
error-unavailable = El servidor no puede acceder a su base de datos por ahora. Inténtelo de nuevo en unos segundos.
error-internal-title = Error interno
error-internal = El servidor no pudo completar la solicitud y ha registrado el error. Inténtelo de nuevo. Si el error persiste, contacte con el operador de este servidor.
error-closed-title = La sala está cerrada por ahora
error-closed = Sus páginas volverán a abrirse en cuanto el servidor pueda enviar correos. No se pierde nada. Para pujar, contacte con la casa.
error-full-title = Hay demasiadas páginas en directo abiertas
error-full = Vuelva a abrir la página en unos segundos.
error-attempts-title = Demasiados intentos
error-attempts = Espere un poco antes de intentarlo de nuevo.
error-changed = Algo cambió al mismo tiempo. Vuelva atrás, cargue de nuevo la página e inténtelo otra vez.
error-accounts-closed = La casa no admite pujas en línea: contacte con ella.
error-watched = Ya sigue { $maximum } lotes, que es el máximo: deje antes de seguir uno.

## Notices
notices = Avisos
notices-none-title = Aún no hay avisos
notices-none = Cuando superen su puja o termine un lote suyo, aparecerá aquí.
notices-choices = Correos y avisos
notices-saved = Guardado.
notices-mails = Correos
notices-mails-to = A { $email }. Enviarme un correo cuando …
notices-about-outbid = superen mi puja
notices-about-won = se me adjudique un lote
notices-about-not-won = termine un lote que no se me adjudica
notices-about-sale = comience una subasta en la que estoy inscrito
notices-about-lot = un lote que sigo vaya a salir pronto
notices-about-registration = la casa decida sobre mi inscripción
notices-about-limit = la casa decide sobre un límite más alto
notices-about-message = la casa me escribe
notices-about-offer = la casa me ofrece un lote que no se vendió
notice-new = Nuevo
notice-close = Cerrar
notice-outbid = Han superado su puja en el lote { $lot }. El precio es { $price }.
notice-outbid-only = Han superado su puja en el lote { $lot }.
notice-won = El lote { $lot } es suyo por { $price }.
notice-not-won = El lote { $lot } se vendió por { $price }, no a usted.
notice-unsold = El lote { $lot } no se vendió.
notice-sale-began = La subasta ha comenzado.
notice-lot-soon = El lote { $lot } saldrá pronto.
notice-approved = Su inscripción ha sido aceptada.
notice-suspended = Su inscripción está suspendida. Contacte con la casa.
notice-declined = Su inscripción ha sido rechazada. Contacte con la casa.
notice-limit-granted = Su límite en esta subasta es ahora de { $price }.
notice-message = { $house }: { $subject }
push = Avisos en este navegador
push-detail = Aparecen también cuando no hay ninguna página de la sala abierta.
push-needs = Su navegador no lo ofrece, o necesita el script de la página. En un iPhone o iPad, añada primero la página a la pantalla de inicio.
push-on = Mostrar avisos en este navegador
push-off = No mostrar más avisos aquí
push-later = Ahora no
push-offer = ¿Quiere saber cuándo superan su puja, también con esta página cerrada?
push-is-on = Este navegador muestra ahora sus avisos.
push-is-off = Este navegador ya no muestra avisos.
push-refused = El navegador no permite avisos de esta página. Puede cambiarlo en sus ajustes para este sitio.
push-browsers = { $n ->
    [one] Un navegador muestra sus avisos.
   *[other] { $n } navegadores muestran sus avisos.
}
notice-kind-outbid = Puja superada
notice-kind-won = Lote adjudicado
notice-kind-not-won = Lote no adjudicado
notice-kind-sale = Comienzo de la subasta
notice-kind-lot = Lote próximo
notice-kind-registration = Inscripción
notice-kind-limit = Límite más alto
notice-kind-message = Mensaje de la casa
notice-kind-offer = Oferta de la casa
push-off-all = No mostrar más avisos en ningún navegador
end-mails = No recibir más correos
end-mails-ask = ¿No recibir más correos de este tipo: { $about }?
end-mails-done = Ya no recibe correos de este tipo: { $about }.
end-mails-all-done = Ya no recibe correos con avisos.
end-mails-one = No recibir más estos correos
end-mails-all = No recibir ningún correo con avisos
end-mails-stays = Sus avisos siguen en la página Avisos.

## Web sites of the house that bid for a bidder
sites = Sitios conectados
sites-ended = El sitio ya no tiene acceso. Las pujas que hizo siguen siendo válidas.
sites-none = Ningún sitio puja por usted. El que lo pida aparecerá aquí cuando usted lo haya permitido.
sites-about = Estos sitios pueden leer sus pujas y pujar por usted en { $house }.
sites-end = Desconectar
sites-times = Permitido { $allowed }. Renovado { $used }. Termina { $ends }.
site-title = Permitir un sitio
site-ask = ¿Permitir que { $host } puje por usted?
site-who = El sitio { $origin } pide actuar por usted en { $house }. Ha iniciado sesión como { $name }, { $email }.
site-may = Si lo permite, el sitio puede:
site-may-read = leer su nombre, correo, inscripciones, pujas, máximos y lotes en seguimiento
site-may-register = inscribirle en subastas y aceptar sus condiciones por usted
site-may-bid = pujar y comprar por usted. Sus pujas le obligan como las suyas propias
site-limits = No recibe su contraseña ni puede cambiar su cuenta. Su acceso termina a los 30 días, o en cuanto usted lo termine en esta página:
site-allow = Permitir
site-cancel = Cancelar
site-refused-title = Este enlace no se puede usar
site-refused = Un sitio pidió pujar por usted en { $house }, pero la casa no tiene este sitio con esta dirección. No se le envió nada.
site-refused-owner = Si usted administra el sitio: su origen y la dirección de regreso deben ser exactamente los que tiene la casa.

## The script element for a house's own web site
embed-price = Precio
embed-more = Mostrar más lotes
embed-bid = Pujar en la sala
embed-look = Ver en la sala
embed-failed = Los lotes no se pueden mostrar en este momento. Inténtelo más tarde.

// Shows the lots of a sale in a page of the house's own site, where this script element stands:
//
//     <script src="https://bid.example.com/embed.js" data-house="hartley-sons" data-sale="01980000-…" defer></script>
//
// It reads public JSON without cookies, writes texts, keeps its style in a shadow root. A button opens the saleroom in the top
// window. Its language is `data-language`, or else that of the page.
(() => {
    "use strict";
    const own = document.currentScript;
    const { house, sale } = own?.dataset ?? {};
    if (!house || !sale) return console.error("embed.js: the script element needs data-house and data-sale");
    const server = new URL(".", own.src);
    const path = `${encodeURIComponent(house)}/api/v1/sales/${encodeURIComponent(sale)}`;
    /** The texts of each language; `{}` stands for what is filled in. */
    const WORDS = /* words */ {};
    const language = wellFormed(own.dataset.language || document.documentElement.lang) ?? "en";
    const words = WORDS[language.split("-")[0].toLowerCase()] ?? WORDS.en;
    const fill = (text, value) => text.replace("{}", () => value);
    const PAGE = 48;
    const STYLE = `
:host { display: block; font: inherit; color: inherit; }
[hidden] { display: none !important }
ul { list-style: none; margin: 0; padding: 0; display: grid; gap: 1.5rem 1rem;
    grid-template-columns: repeat(auto-fill, minmax(min(14rem, 100%), 1fr)); }
button, a.bid { font: inherit; min-height: 44px; box-sizing: border-box; padding: .5rem 1rem; cursor: pointer;
    border: 1px solid currentColor; border-radius: 4px; background: none; color: inherit; text-decoration: none;
    display: inline-flex; align-items: center; }
button.lot { display: block; width: 100%; padding: 0; border: 0; text-align: start; }
img, .none { display: block; width: 100%; aspect-ratio: 4 / 3; object-fit: contain; background: rgb(127 127 127 / 12%); }
.whole img { aspect-ratio: auto; max-height: 70vh; margin-bottom: .5rem; }
p { margin: .25rem 0; overflow-wrap: anywhere; } h2 { margin: 1rem 0 .25rem; outline: none; } .money { white-space: nowrap; font-weight: 600; }
button.lot:hover b, a:hover { text-decoration: underline; } .actions { display: flex; flex-wrap: wrap; gap: .75rem; margin-top: 1rem; }`;

    const host = document.createElement("div");
    own.after(host);
    const root = host.attachShadow({ mode: "open" });
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(STYLE);
    root.adoptedStyleSheets = [sheet];
    const view = make("div");
    root.append(view);

    /** The language as the browser's formats take it. */
    function wellFormed(tag) {
        try {
            return Intl.getCanonicalLocales(tag || [])[0];
        } catch {
            return undefined;
        }
    }

    function make(name, text = "", className = "") {
        const element = document.createElement(name);
        element.textContent = text;
        if (className) element.className = className;
        return element;
    }

    async function read(below = "") {
        const answer = await fetch(new URL(path + below, server), { credentials: "omit" });
        if (!answer.ok) throw new Error(`${answer.status}`);
        return answer.json();
    }

    function picture(lot, image, size) {
        if (!image) return make("span", "", "none");
        const shown = make("img");
        Object.assign(shown, { src: image[size], width: image.width, height: image.height, loading: "lazy" });
        shown.alt = size === "large" ? lot.title : "";
        return shown;
    }

    const state = { sale: null, money: null, place: 0 };

    function money(minor) {
        const digits = state.money.resolvedOptions().maximumFractionDigits;
        return state.money.format(minor / 10 ** digits);
    }

    /** A lot's price, and what premium and taxes make of it. */
    function price(lot) {
        const line = make("p");
        const say = (label, minor, total) => {
            line.append(`${label} `, make("span", money(minor), "money"));
            if (total !== minor) line.append(make("small", ` ${fill(words.total, money(total))}`));
        };
        if (/^SOLD/.test(lot.status)) say(words.hammer, lot.price, lot.priceTotal);
        else if (lot.status === "UNSOLD") line.textContent = words.unsold;
        else if (lot.status === "PASSED") line.textContent = words.passed;
        else if (lot.price !== null) say(words.price, lot.price, lot.priceTotal);
        else if (lot.minimumBid !== null) say(words.start, lot.minimumBid, lot.minimumBidTotal);
        line.dataset.price = lot.uuid;
        line.dataset.version = lot.version;
        return line;
    }

    function end(lot) {
        const at = lot.effectiveEndTime;
        if (!at || lot.minimumBid === null) return "";
        const format = { dateStyle: "medium", timeStyle: "short", timeZone: state.sale.timeZone };
        return fill(words.ends, `${new Intl.DateTimeFormat(language, format).format(new Date(at))} (${state.sale.timeZone})`);
    }

    /** Prices change by themselves while the page is open. */
    let stream = null;
    function follow(lots) {
        stream?.close();
        if (!/^(PREVIEW|LIVE)$/.test(state.sale.status)) return;
        const followed = lots.slice(-60).map((lot) => lot.uuid).join(",");
        stream = new EventSource(new URL(`${path}/live?lots=${followed}`, server));
        const show = (lot) => {
            for (const line of root.querySelectorAll(`[data-price="${CSS.escape(lot.uuid)}"]`)) {
                if (lot.version > Number(line.dataset.version)) line.replaceWith(price(lot));
            }
        };
        stream.addEventListener("snapshot", (event) => JSON.parse(event.data).items.forEach(show));
        stream.addEventListener("item", (event) => show(JSON.parse(event.data).item));
    }

    async function catalogue() {
        const list = make("ul");
        const more = make("button", words.more);
        const shown = [];
        let next = null;
        const load = async () => {
            const page = await read(`/lots?limit=${PAGE}${next ? `&after=${encodeURIComponent(next)}` : ""}`);
            next = page.next;
            for (const lot of page.data) {
                const entry = make("li");
                const open = make("button", "", "lot");
                const title = make("p");
                title.append(make("b", `${lot.lotNumber} `), lot.title);
                open.append(picture(lot, lot.images[0], "small"), title);
                open.addEventListener("click", () => run(() => one(lot.uuid)));
                entry.append(open, price(lot));
                list.append(entry);
                shown.push(lot);
            }
            more.hidden = next === null;
            follow(shown);
        };
        await load();
        more.addEventListener("click", () => run(load));
        view.replaceChildren(make("h2", state.sale.title), list, more);
        if (state.place) scrollTo({ top: state.place });
    }

    async function one(uuid) {
        const lot = await read(`/lots/${encodeURIComponent(uuid)}`);
        state.place = scrollY;
        const back = make("button", words.all);
        back.addEventListener("click", () => run(catalogue));
        const bid = make("a", lot.minimumBid === null ? words.look : words.bid, "bid");
        // The server names an address of its own; nothing else is opened.
        const address = new URL(lot.url);
        if (address.origin === server.origin) Object.assign(bid, { href: address.href, target: "_top" });
        const heading = make("h2", `${lot.lotNumber} ${lot.title}`);
        heading.tabIndex = -1;
        const whole = make("div", "", "whole");
        whole.append(...lot.images.map((image) => picture(lot, image, "large")));
        const texts = lot.description.split("\n").filter((line) => line.trim()).map((line) => make("p", line));
        const range = [lot.lowEstimate, lot.highEstimate].filter((amount) => amount !== null).map(money).join(" – ");
        const estimate = range ? [make("p", fill(words.estimate, range))] : [];
        const actions = make("div", "", "actions");
        actions.append(bid, back);
        view.replaceChildren(whole, heading, ...estimate, price(lot), make("p", end(lot)), ...texts, actions);
        heading.focus();
        follow([lot]);
    }

    async function run(step) {
        try {
            await step();
        } catch (error) {
            console.error("embed.js:", error);
            view.replaceChildren(make("p", words.failed));
        }
    }

    run(async () => {
        state.sale = await read();
        state.money = new Intl.NumberFormat(language, { style: "currency", currency: state.sale.currency });
        await catalogue();
    });
})();

// The frame of the console: navigation, search, and the page that the address names.
import { html, render, useEffect, useRef, useState } from "./lib/preact.js";
import { client, first, followTip, orNothing } from "./api.js";
import { Block, Blocks, Wallet } from "./chain.js";
import { Delegate, Delegates } from "./delegates.js";
import { Home } from "./home.js";
import { Node } from "./node.js";
import { Failure, link, network, Notice } from "./parts.js";
import { Transaction } from "./transactions.js";
import { Webhook, Webhooks } from "./webhooks.js";

const pages = {
  "": { title: "Now", page: Home, one: Home },
  blocks: { title: "Blocks", page: Blocks, one: Block },
  delegates: { title: "Delegates", page: Delegates, one: Delegate },
  wallets: { page: Blocks, one: Wallet },
  transactions: { page: Blocks, one: Transaction },
  webhooks: { title: "Webhooks", page: Webhooks, one: Webhook },
  node: { title: "Node", page: Node, one: Node },
};

/** What an address shows that leads nowhere. */
const Nowhere = () => html`<h1 tabindex="-1">There is no such page</h1><p>Search for it above, or look at <a href="#/">what is on the chain now</a>.</p>`;
const nowhere = { title: "There is no such page", page: Nowhere, one: Nowhere };

/** An address that somebody typed may have a `%` that stands for itself. */
const decoded = (part) => {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
};
const readPlace = () => location.hash.replace(/^#\/?/, "").split("/").map(decoded);

const isHash = (text) => /^[\da-f]{64}$/i.test(text);

/**
 * Where what somebody typed is found; undefined if it is nothing that the node knows. Lists are asked, because they are empty where there is
 * nothing: browsers report a 404 as a fault.
 */
const lookUp = async (typed) => {
  const text = isHash(typed) ? typed.toLowerCase() : typed;
  const isNumber = /^\d{1,20}$/.test(text);
  const blocks = (query) => first(client.blocks.list({ ...query, limit: 1 }));
  const block = (isNumber && text.length < 16 && (await blocks({ height: Number(text) }))) || ((isNumber || isHash(text)) && (await blocks({ id: text })));
  if (block) return link("blocks", block.id);
  if (isHash(text)) {
    const waiting = async () => (await orNothing(client.transactions.unconfirmed({ limit: 100 })))?.data.find(({ id }) => id === text);
    const transaction = (await first(client.transactions.list({ id: text, limit: 1 }))) ?? (await waiting());
    if (transaction) return link("transactions", transaction.id);
  }
  const delegate = await first(client.delegates.search({ usernames: [text], limit: 1 }));
  if (delegate) return link("delegates", delegate.username);
  const key = /^0[23][\da-f]{64}$/i.test(text) ? "publicKey" : "address";
  const wallet = /^[\da-z]+$/i.test(text) && (await first(client.wallets.list({ [key]: text, limit: 1 })));
  return wallet ? link("wallets", wallet.address) : undefined;
};

const Search = () => {
  const [state, setState] = useState({});
  const search = async (event) => {
    event.preventDefault();
    const text = new FormData(event.target).get("text").trim();
    if (text === "") return;
    setState({ isBusy: true });
    try {
      const found = await lookUp(text);
      if (found === undefined) return setState({ missing: text });
      setState({});
      event.target.reset();
      location.hash = found;
    } catch (error) {
      setState({ error });
    }
  };
  return html`<form class="search" role="search" onSubmit=${search}>
    <label class="hidden" for="search">Address, block, transaction or delegate</label>
    <input id="search" name="text" placeholder="Address, id, height or name" autocomplete="off" spellcheck=${false} />
    <button disabled=${state.isBusy}>Find</button>
    ${state.missing !== undefined && html`<${Notice} kind="bad">Nothing on the chain is called ${state.missing}.<//>`}
    <${Failure} error=${state.error} />
  </form>`;
};

const states = { live: "live", lost: "no answer from the node", waiting: "connecting" };

const App = () => {
  const [place, setPlace] = useState(readPlace);
  const [tip, setTip] = useState(0);
  const [state, setState] = useState("waiting");
  const heading = useRef();
  useEffect(() => followTip(() => setTip((before) => before + 1), setState), []);
  useEffect(() => {
    const change = () => setPlace(readPlace());
    addEventListener("hashchange", change);
    return () => removeEventListener("hashchange", change);
  }, []);
  useEffect(() => {
    if (network.isLoaded) return;
    const load = async () => {
      const { symbol, constants } = await client.node.configuration();
      Object.assign(network, { symbol, blocktime: constants.blocktime, isLoaded: true });
      setTip((before) => before + 1);
    };
    // It is asked again with the next block.
    load().catch(() => undefined);
  }, [tip]);

  const [name, id] = place;
  const { title, page, one } = Object.hasOwn(pages, name) ? pages[name] : nowhere;
  const key = place.join("/");
  // Whoever listens to the page hears where it leads.
  const isFirst = useRef(true);
  useEffect(() => {
    if (!isFirst.current) heading.current?.querySelector("h1")?.focus();
    isFirst.current = false;
  }, [key]);
  // A page may have its heading only once it is loaded.
  useEffect(() => {
    const name = () => (document.title = `${heading.current.querySelector("h1")?.textContent ?? title} · Console`);
    const watch = new MutationObserver(name);
    watch.observe(heading.current, { childList: true, characterData: true, subtree: true });
    name();
    return () => watch.disconnect();
  }, [title]);

  const Page = id === undefined || id === "" ? page : one;
  return html`
    <a class="skip" href="#main" onClick=${(event) => { event.preventDefault(); heading.current?.querySelector("h1")?.focus(); }}>Skip to the page</a>
    <header><div>
      <a class="brand" href="#/">Portico<small class=${state === "lost" ? "bad" : ""} role="status">${states[state]}</small></a>
      <nav aria-label="Pages">${Object.entries(pages).filter(([, entry]) => entry.title !== undefined).map(
        ([path, entry]) => html`<a href=${path === "" ? "#/" : link(path)} aria-current=${path === name ? "page" : undefined}>${entry.title}</a>`,
      )}</nav>
      <${Search} />
    </div></header>
    <main id="main" ref=${heading}><${Page} key=${key} id=${id} rest=${place.slice(2)} tip=${tip} isLost=${state === "lost"} /></main>`;
};

const place = document.getElementById("app");
place.replaceChildren();
render(html`<${App} />`, place);

// Delegates: ranks, shares, turns.
import { html, useState } from "./lib/preact.js";
import { client, orNothing } from "./api.js";
import { BlockTable } from "./chain.js";
import { Amount, BlockLink, Card, count, DelegateLink, Facts, Failure, network, Notice, Table, Time, useLoaded, WalletLink } from "./parts.js";

/** The delegates in the order in which they forge from the next slot on, again and again. */
const forgingOrder = async (limit, signal) =>
  (await client.request("GET", "/v1/delegates/getNextForgers", { query: { limit }, signal })).delegates ?? [];

/** How often each delegate let its slot pass within the last blocks of this round: the order is known for this round alone. */
const missedIn = (blocks, order) => {
  const missed = new Map();
  const [newest] = blocks;
  if (newest === undefined || order.length === 0) return missed;
  const slotOf = ({ timestamp }) => Math.floor((timestamp.epoch - newest.timestamp.epoch) / network.blocktime);
  const delegateOf = (slot) => order.at((slot - 1) % order.length);
  // A block by anybody else is of an earlier round, or of a time with other slots.
  const end = blocks.findIndex((block) => block.generator.publicKey !== delegateOf(slotOf(block)));
  const round = blocks.slice(0, Math.min(order.length - 1, end === -1 ? blocks.length : end));
  for (const [index, block] of round.slice(0, -1).entries()) {
    for (let slot = slotOf(round[index + 1]) + 1; slot < slotOf(block); slot++) {
      missed.set(delegateOf(slot), (missed.get(delegateOf(slot)) ?? 0) + 1);
    }
  }
  return missed;
};

const load = async (signal) => {
  const { constants } = await client.node.configuration({}, { signal });
  const active = constants.activeDelegates;
  const [delegates, blocks, order] = await Promise.all([
    client.delegates.list({ limit: 100, orderBy: "rank:asc" }, { signal }),
    client.blocks.list({ limit: Math.min(100, active) }, { signal }),
    forgingOrder(active, signal),
  ]);
  const names = new Map(delegates.data.map(({ publicKey, username }) => [publicKey, username]));
  return { active, delegates: delegates.data, next: order.slice(0, 8).map((key) => names.get(key) ?? key), missed: missedIn(blocks.data, order) };
};

export const Delegates = ({ tip }) => {
  const { value, error } = useLoaded(load, [tip]);
  const [filter, setFilter] = useState("");
  if (value === undefined) return html`<h1 tabindex="-1">Delegates</h1><${Failure} error=${error} />`;
  const { active, delegates, next, missed } = value;
  const rows = delegates.filter(({ username }) => username.includes(filter));
  return html`<h1 tabindex="-1">Delegates</h1><${Failure} error=${error} />
    <div class="grid">
      <${Card} title="Who forges next" wide><ol class="turns">${next.map((name) => html`<li key=${name}><${DelegateLink} name=${name} /></li>`)}</ol><//>
      <${Card} title=${`The first ${delegates.length} by rank; ${active} forge`} wide>
        <div class="row"><label for="filter">Username</label><input id="filter" value=${filter} onInput=${({ target }) => setFilter(target.value.trim())} /></div>
        <${Table} caption="Delegates by rank" rows=${rows} keyOf=${({ address }) => address} empty="No delegate among them has such a name." columns=${[
          ["Rank", ({ rank }) => (rank === undefined ? "–" : count(rank)), "num"],
          ["Delegate", ({ username, isResigned }) => html`<${DelegateLink} name=${username} />${isResigned && html` <small>resigned</small>`}`],
          ["Share of the supply", ({ production }) => `${production.approval.toFixed(2)} %`, "num"],
          ["Votes", ({ votes }) => html`<${Amount} of=${votes} digits=${0} />`, "num"],
          ["Blocks", ({ blocks }) => count(blocks.produced), "num"],
          ["Last block", ({ blocks }) => (blocks.last ? html`<${Time} unix=${blocks.last.timestamp.unix} short />` : "none yet")],
          ["Missed this round", ({ publicKey }) => (missed.has(publicKey) ? html`<span class="bad">${missed.get(publicKey)}</span>` : "–"), "num"],
        ]} />
      <//>
    </div>`;
};

export const Delegate = ({ id, tip }) => {
  const read = async (signal) => {
    const delegate = await orNothing(client.delegates.get(id, {}, { signal }));
    if (delegate === undefined) return undefined;
    const [blocks, voters] = await Promise.all([
      client.delegates.blocks(id, { limit: 20 }, { signal }),
      client.delegates.voters(id, { limit: 20 }, { signal }),
    ]);
    return { delegate, blocks: blocks.data, voters };
  };
  const { value, error, isLoading } = useLoaded(read, [id, tip]);
  if (value === undefined) return html`<h1 tabindex="-1">${isLoading ? "…" : "Not found"}</h1>${isLoading ? null : error ? html`<${Failure} error=${error} />` : html`<${Notice}>There is no such delegate on this chain.<//>`}`;
  const { delegate, blocks, voters } = value;
  const { last } = delegate.blocks;
  return html`<h1 tabindex="-1">${delegate.username}</h1><${Failure} error=${error} />
    <div class="grid">
      <${Card} title="Delegate"><${Facts} rows=${[
        ["Rank", delegate.rank === undefined ? "not ranked" : count(delegate.rank)],
        ["Share of the supply", `${delegate.production.approval.toFixed(2)} %`],
        ["Votes", html`<${Amount} of=${delegate.votes} />`],
        ["State", delegate.isResigned ? "resigned" : undefined],
        ["Wallet", html`<${WalletLink} address=${delegate.address} full />`],
      ]} /><//>
      <${Card} title="Forged"><${Facts} rows=${[
        ["Blocks", count(delegate.blocks.produced)],
        ["Last block", last ? html`<${BlockLink} id=${last.id}>${count(last.height)}<//> <${Time} unix=${last.timestamp.unix} />` : "none yet"],
        ["Rewards", html`<${Amount} of=${delegate.forged.rewards} />`],
        ["Fees", html`<${Amount} of=${delegate.forged.fees} />`],
      ]} /><//>
      <${Card} title="Its newest blocks" wide><${BlockTable} blocks=${blocks} ofOne /><//>
      <${Card} title=${voters.meta.totalCount > voters.data.length ? `The first ${voters.data.length} of ${count(voters.meta.totalCount)} voters` : `Voters (${voters.data.length})`} wide><${Table} caption="Voters" rows=${voters.data} keyOf=${({ address }) => address} empty="Nobody votes for this delegate." columns=${[
        ["Wallet", ({ address }) => html`<${WalletLink} address=${address} full />`],
        ["Balance", ({ balance }) => html`<${Amount} of=${balance} />`, "num"],
      ]} /><//>
    </div>`;
};

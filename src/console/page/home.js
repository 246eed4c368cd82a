// What is on the chain now.
import { html, useMemo } from "./lib/preact.js";
import { askHealth, client } from "./api.js";
import { BlockTable } from "./chain.js";
import { Amount, Card, count, Failure, Plot, useLoaded } from "./parts.js";

const shown = 60;

const load = async (signal) => {
  const [blocks, syncing, chain, ready] = await Promise.all([
    client.blocks.list({ limit: shown }, { signal }),
    client.node.syncing({ signal }),
    client.blockchain.get({}, { signal }),
    askHealth(signal),
  ]);
  return { blocks: blocks.data, syncing, supply: chain.supply, ready };
};

const Figure = ({ name, children, kind }) => html`<div class="figure"><b class=${kind}>${children}</b><span>${name}</span></div>`;

export const Home = ({ tip, isLost }) => {
  const { value, error } = useLoaded(load, [tip]);
  const plots = useMemo(() => {
    // Genesis was not forged, and says nothing of the pace.
    const blocks = (value?.blocks ?? []).filter(({ height }) => height > 1).reverse();
    const heights = blocks.map(({ height }) => height);
    const times = blocks.map(({ timestamp }, index) => (index === 0 ? null : timestamp.unix - blocks[index - 1].timestamp.unix));
    return { heights, transactions: blocks.map(({ transactions }) => transactions), times };
  }, [value]);
  if (value === undefined) return html`<h1 tabindex="-1">Now</h1><${Failure} error=${error} />`;
  const { blocks, syncing, supply, ready } = value;
  const [newest] = blocks;
  const transactions = blocks.reduce((sum, block) => sum + block.transactions, 0);
  return html`
    <h1 tabindex="-1">Now</h1>
    <${Failure} error=${error} />
    <div class="figures">
      <${Figure} name="height">${count(newest?.height ?? 0)}<//>
      ${isLost
        ? html`<${Figure} name="health" kind="bad">no answer<//>`
        : html`<${Figure} name=${ready.detail ?? "health"} kind=${ready.problem === undefined ? "good" : "bad"}>${ready.problem ?? "ready"}<//>`}
      <${Figure} name="blocks behind the network">${count(Math.max(0, syncing.blocks))}<//>
      <${Figure} name=${`transactions in the last ${blocks.length} blocks`}>${count(transactions)}<//>
      <${Figure} name="supply"><${Amount} of=${supply} digits=${0} /><//>
    </div>
    <div class="grid">
      <${Card} title="Transactions per block">
        <${Plot} bars label=${`Transactions in each of the last ${blocks.length} blocks; ${newest?.transactions ?? 0} in the newest`} x=${plots.heights} y=${plots.transactions} />
      <//>
      <${Card} title="Seconds between blocks">
        <${Plot} label=${`Seconds between each of the last ${blocks.length} blocks and the one before`} x=${plots.heights} y=${plots.times} format=${(seconds) => `${seconds} s`} />
      <//>
      <${Card} title="Newest blocks" wide><${BlockTable} blocks=${blocks.slice(0, 12)} /><//>
    </div>`;
};

// The node itself: health, network, pool, peers.
import { html } from "./lib/preact.js";
import { ask, base } from "./api.js";
import { TransactionTable } from "./chain.js";
import { BlockLink, Card, count, Facts, Failure, Table, useLoaded } from "./parts.js";

const load = async (signal) => {
  const [ready, configuration, syncing, pool, peers] = await Promise.all([
    ask("/health/ready", { signal }),
    ask("/node/configuration", { signal }),
    ask("/node/syncing", { signal }),
    ask("/transactions/unconfirmed?limit=20", { signal }).catch(() => undefined),
    ask("/peers?limit=50", { signal }).catch(() => undefined),
  ]);
  return { ready, configuration: configuration.data, syncing: syncing.data, pool, peers };
};

/** What a problem means, for somebody who has to do something about it. */
const words = {
  starting: "There is no state to show yet.",
  "catching up": "Blocks that were missed are being read.",
  "behind the host": "The node has blocks that the store could not get.",
  diverged: "The node's chain is another than the one shown here.",
  stale: "There has been no block for a while: is the network, or forging, standing still?",
  "store cannot be written": "What is shown is right, but grows old. Look at the disk.",
  "full disk": "The disk is full. Make room; nothing else needs to be done.",
  stopping: "The node is being stopped.",
  "node unreachable": "The node that this replica follows does not answer. What is shown is right, but grows old.",
  "node behind": "The node that this replica follows has fewer blocks than are shown here, as after a restore from a backup. What is shown is right, but grows old.",
  failing: "Something is wrong.",
};

const mark = (block) => block && html`<${BlockLink} id=${block.id}>${count(block.height)}<//>`;

const healthOf = ({ problem, detail }, isLost) => {
  if (isLost) return html`<p class="notice bad">The node does not answer. Below is what it said last.</p>`;
  return problem === undefined ? html`<p class="notice good">All is well.</p>` : html`<p class="notice bad">${words[problem] ?? problem} <small>${detail}</small></p>`;
};

export const Node = ({ tip, isLost }) => {
  const { value, error } = useLoaded(load, [tip]);
  if (value === undefined) return html`<h1 tabindex="-1">Node</h1><${Failure} error=${error} />`;
  const { ready, configuration, syncing, pool, peers } = value;
  const behind = Math.max(0, syncing.blocks);
  return html`<h1 tabindex="-1">Node</h1><${Failure} error=${error} />
    <div class="grid">
      <${Card} title="Health">
        ${healthOf(ready, isLost)}
        <${Facts} rows=${[
          ["Last block", mark(ready.tip)],
          ["Final up to", mark(ready.final)],
          ["Readable from", mark(ready.oldest)],
          ["Network", behind === 0 ? "caught up" : `${count(behind)} blocks ahead`],
        ]} />
      <//>
      <${Card} title="Network"><${Facts} rows=${[
        ["Token", `${configuration.token} (${configuration.symbol})`],
        ["Network hash", html`<span class="id">${configuration.nethash}</span>`],
        ["Block time", `${configuration.constants.blocktime} s`],
        ["Delegates that forge", count(configuration.constants.activeDelegates)],
        ["Node version", configuration.core?.version],
        ["Metrics", html`<a href=${`${base}/metrics`}>for Prometheus</a>`],
      ]} /><//>
      <${Card} title=${pool === undefined ? "Pool" : `Pool: ${count(pool.meta.totalCount)} transactions wait to be forged`} wide>
        ${pool === undefined ? html`<p class="notice">This node tells nothing of its pool.</p>` : html`<${TransactionTable} transactions=${pool.data} empty="Nothing is waiting." />`}
      <//>
      <${Card} title=${peers === undefined ? "Peers" : `Peers: ${count(peers.meta.totalCount)}`} wide>
        <${Table} caption="Peers" rows=${peers?.data ?? []} keyOf=${({ ip, port }) => `${ip}:${port}`} empty="This node knows no peers." columns=${[
          ["Address", ({ ip, port }) => `${ip}:${port}`],
          ["Version", ({ version }) => version],
          ["Height", ({ height }) => count(height), "num"],
          ["Latency", ({ latency }) => `${latency} ms`, "num"],
        ]} />
      <//>
    </div>`;
};

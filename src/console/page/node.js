// The node itself: health, process, network, pool, peers.
import { html } from "./lib/preact.js";
import { version } from "./lib/client.js";
import { askHealth, askMetrics, base, client, readToken } from "./api.js";
import { BlockLink, bytesText, Card, count, Facts, Failure, lengthText, link, Table, Time, useLoaded } from "./parts.js";
import { TransactionTable } from "./transactions.js";

/** Webhooks whose last attempt failed, or that the node has disabled; undefined without the token for them. */
const failingWebhooks = async (metrics, signal) => {
  if (readToken() === "") return undefined;
  if (["failing", "disabled"].every((state) => metrics[`portico_webhooks{state="${state}"}`] === 0)) return [];
  const { data } = await client.webhooks.list({ limit: 100 }, { signal });
  return data.filter(({ failingSince, disabledBecause }) => failingSince !== null || disabledBecause !== null);
};

/** Undefined where the node cannot say. */
const orUnknown = async (asked) => {
  try {
    return await asked;
  } catch {
    return undefined;
  }
};

/** Asked once a minute: reading the metrics begins the peaks anew of which Prometheus reads the largest. */
const loadProcess = async (signal) => {
  const metrics = await askMetrics(signal);
  return { metrics, failing: await orUnknown(failingWebhooks(metrics, signal)) };
};

const load = async (signal) => {
  const [ready, configuration, syncing, last, pool, peers] = await Promise.all([
    askHealth(signal),
    client.node.configuration({}, { signal }),
    client.node.syncing({ signal }),
    orUnknown(client.blocks.last({}, { signal })),
    orUnknown(client.transactions.unconfirmed({ limit: 20 }, { signal })),
    orUnknown(client.peers.list({ limit: 50 }, { signal })),
  ]);
  return { ready, configuration, syncing, last, pool, peers };
};

/** What a problem means, for somebody who has to do something about it. */
const words = {
  starting: "There is no state to show yet.",
  "catching up": "Missed blocks are being read.",
  "behind the host": "The node has blocks that the store could not get.",
  diverged: "The node's chain differs from the one shown here.",
  stale: "There has been no block for a while. Has the network or forging stopped?",
  "store cannot be written": "The data shown is correct, but no longer updated. Look at the disk.",
  "full disk": "The disk is full. Free some space; nothing else is needed.",
  stopping: "The node is being stopped.",
  "node unreachable": "The node that this replica follows does not answer. The data shown is correct, but no longer updated.",
  "node behind": "The node that this replica follows has fewer blocks than this replica, as after a restore from a backup. The data shown is correct, but no longer updated.",
  failing: "Something is wrong.",
};

const mark = (block) => block && html`<${BlockLink} id=${block.id}>${count(block.height)}<//>`;

/** Each problem once: the parts that have it may each have told of it. */
const Problems = ({ of: { problem, detail = "" }, isLost }) => {
  if (isLost) return html`<p class="notice bad">The node does not answer. Its last answers are shown below.</p>`;
  if (problem === undefined) return html`<p class="notice good">All is well.</p>`;
  const details = new Set(detail.split("; ").filter((each) => each !== "" && each !== problem));
  return html`<p class="notice bad">${words[problem] ?? problem}</p><ul>${[...details].map((each) => html`<li key=${each}>${each}</li>`)}</ul>`;
};

/** Undefined where neither the token nor the metrics tell. */
const failingText = (failing, number) => {
  if (failing === undefined) return number > 0 ? html`<a class="bad" href=${link("webhooks")}>${count(number)}</a>` : number === 0 && "none";
  if (failing.length === 0) return "none";
  return failing.map(({ id, failingSince, target }) => html`<div key=${id}><a class="bad" href=${link("webhooks", String(id))}>webhook ${id}</a>, ${target},
    ${" "}${failingSince === null ? "disabled" : html`since <${Time} unix=${failingSince / 1000} />`}</div>`);
};

/** Portico itself, by its metrics. */
const Process = ({ metrics, failing }) => {
  const started = metrics.process_start_time_seconds;
  const [pending, retrying] = ["pending", "retrying"].map((state) => metrics[`portico_webhook_deliveries_open{state="${state}"}`]);
  return html`<${Card} title="Portico"><${Facts} rows=${[
    ["Version", version],
    ["Running for", started !== undefined && lengthText(Date.now() / 1000 - started)],
    ["Store", metrics.portico_store_bytes !== undefined && bytesText(metrics.portico_store_bytes)],
    ["Free on its disk", metrics.portico_disk_free_bytes !== undefined && bytesText(metrics.portico_disk_free_bytes)],
    ["Failing webhooks", failingText(failing, metrics['portico_webhooks{state="failing"}'])],
    ["Waiting deliveries", pending !== undefined && `${count(pending)} for a first attempt, ${count(retrying)} for a retry`],
    ["Metrics", started === undefined ? "not shown to this page" : html`<a href=${`${base}/metrics`}>for Prometheus</a>`],
  ]} /><//>`;
};

export const Node = ({ tip, isLost }) => {
  const { value, error } = useLoaded(load, [tip]);
  const { value: process = { metrics: {} } } = useLoaded(loadProcess, [Math.floor(Date.now() / 60_000)]);
  if (value === undefined) return html`<h1 tabindex="-1">Node</h1><${Failure} error=${error} />`;
  const { ready, configuration, syncing, last, pool, peers } = value;
  const behind = Math.max(0, syncing.blocks);
  return html`<h1 tabindex="-1">Node</h1><${Failure} error=${error} />
    <div class="grid">
      <${Card} title="Health">
        <${Problems} of=${ready} isLost=${isLost} />
        <${Facts} rows=${[
          ["Last block", last ? html`${mark(last)} <${Time} unix=${last.timestamp.unix} />` : mark(ready.tip)],
          ["Final up to", mark(ready.final)],
          ["Readable from", mark(ready.oldest)],
          ["Network", behind === 0 ? "caught up" : `${count(behind)} blocks ahead`],
        ]} />
      <//>
      <${Process} ...${process} />
      <${Card} title="Network" wide><${Facts} rows=${[
        ["Token", `${configuration.token} (${configuration.symbol})`],
        ["Network hash", html`<span class="id">${configuration.nethash}</span>`],
        ["Block time", `${configuration.constants.blocktime} s`],
        ["Active delegates", count(configuration.constants.activeDelegates)],
        ["Node version", configuration.core?.version],
      ]} /><//>
      <${Card} title=${pool === undefined ? "Pool" : `Pool: ${count(pool.meta.totalCount)} transactions wait to be forged`} wide>
        ${pool === undefined ? html`<p class="notice">This node does not show its pool.</p>` : html`<${TransactionTable} transactions=${pool.data} empty="Nothing is waiting." />`}
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

// Deliveries of a webhook: what waits and why, and what became of each.
import { html, useState } from "./lib/preact.js";
import { client } from "./api.js";
import { Card, count, Facts, Failure, jsonText, link, Paged, Table, Time, useLoaded } from "./parts.js";

const states = {
  pending: "waiting",
  retrying: "failed, to be retried",
  delivered: "delivered",
  dead: "given up",
  dropped: "not sent: reverted",
  superseded: "stopped: reverted",
};
const kindOf = (state) => ({ delivered: "good", retrying: "bad", dead: "bad" })[state] ?? "";

const failures = {
  address: "its address is not allowed",
  dns: "its name was not found",
  connect: "no connection",
  tls: "no secure connection (TLS)",
  timeout: "no answer in time",
  response: "its answer broke off",
};
/** What came of an attempt. */
const answerOf = ({ status, stage, error }) => {
  if (error === null || stage === "status") return `answered ${status}`;
  return `${failures[stage] ?? stage}: ${error}`;
};

const AnswerBody = ({ of }) => of.body !== "" && html`<pre tabindex="0">${of.body}</pre>`;

/** Shown of the deliveries that wait. */
const most = 100;

/** Deliveries in a state: how many, the newest, and the oldest. */
const inState = async (id, state, signal) => {
  const ask = (query) => client.webhooks.deliveries(id, { state, ...query }, { signal });
  const { data, meta } = await ask({ limit: most });
  const { totalCount: total } = meta;
  const oldest = total > data.length ? (await ask({ limit: 1, page: total })).data[0] : data.at(-1);
  return { total, newest: data, oldest };
};

const loadBacklog = async (id, signal) => {
  const [pending, retrying, dead] = await Promise.all(["pending", "retrying", "dead"].map((state) => inState(id, state, signal)));
  const due = retrying.newest.map(({ dueAt }) => dueAt).filter((dueAt) => dueAt !== null);
  const attempts = [...retrying.newest, ...dead.newest].flatMap((delivery) => delivery.attempts.slice(-1));
  const failed = attempts.filter(({ error }) => error !== null);
  const last = failed.reduce((latest, attempt) => (latest === undefined || attempt.at > latest.at ? attempt : latest), undefined);
  return { pending, retrying, dead, next: due.length === 0 ? undefined : Math.min(...due), last };
};

const since = ({ total, oldest }) =>
  total > 0 && oldest !== undefined && html`${count(total)}, the oldest since <${Time} unix=${oldest.timestamp / 1000} />`;

/** Sends again what failed since a time. `from`: the time that is offered, in milliseconds. */
const Recover = ({ id, from, onDone }) => {
  const [error, setError] = useState();
  const recover = async (event) => {
    event.preventDefault();
    try {
      const { recovered } = await client.webhooks.recover(id, { since: Date.parse(`${event.target.elements.since.value}Z`) });
      setError(undefined);
      onDone(recovered === 1 ? "1 delivery is sent again." : `${count(recovered)} deliveries are sent again.`);
    } catch (failure) {
      setError(failure);
    }
  };
  return html`<form onSubmit=${recover} class="row">
    <label for="since">Send again everything that failed since</label>
    <input id="since" name="since" type="datetime-local" step="1" required defaultValue=${new Date(from).toISOString().slice(0, 19)} /> UTC
    <button class="plain">Send again</button><${Failure} error=${error} />
  </form>`;
};

/** What waits to be delivered, since when, and why. */
export const Backlog = ({ webhook, tip, onDone }) => {
  const { value, error } = useLoaded((signal) => loadBacklog(webhook.id, signal), [webhook.id, tip]);
  if (value === undefined) return html`<${Card} title="Waiting deliveries" wide><${Failure} error=${error} /><//>`;
  const { pending, retrying, dead, next, last } = value;
  const failed = [retrying, dead].filter(({ total }) => total > 0).map(({ oldest }) => oldest?.timestamp ?? Date.now());
  const isFew = retrying.total <= most;
  return html`<${Card} title="Waiting deliveries" wide><${Failure} error=${error} />
    ${pending.total + retrying.total + dead.total === 0 && html`<p class="notice">Nothing waits, and nothing was given up.</p>`}
    <${Facts} rows=${[
      ["Waiting for a first attempt", since(pending)],
      ["Failed, to be retried", since(retrying)],
      [isFew ? "Next attempt" : `Next attempt of the newest ${most}`, next !== undefined && html`<${Time} unix=${next / 1000} />`],
      ["Given up", since(dead)],
      ["Why the last attempt failed", last !== undefined && html`<span class="bad">${answerOf(last)}</span>, <${Time} unix=${last.at / 1000} />
        <${AnswerBody} of=${last} />`],
    ]} />
    ${failed.length > 0 && html`<${Recover} key=${webhook.id} id=${webhook.id} from=${Math.min(...failed)} onDone=${onDone} />`}
  <//>`;
};

const Attempts = ({ attempts }) => html`<${Table} caption="Attempts" rows=${attempts} keyOf=${({ at }) => at} empty="No attempt yet."
  columns=${[
  ["When", ({ at }) => html`<${Time} unix=${at / 1000} short />`],
  ["Took", ({ duration }) => `${count(duration)} ms`, "num"],
  ["Answer", (attempt) => html`<span class=${attempt.error === null ? "good" : "bad"}>${answerOf(attempt)}</span>
    <${AnswerBody} of=${attempt} />`],
]} />
${attempts.length > 1 && html`<p class="notice">The body of the answer is kept for the last attempt only.</p>`}`;

/** Sends a delivery at once. Not one that waits for its first attempt, nor one that the chain has taken back. */
const Send = ({ of: { id, webhookId, state }, onDone }) => {
  const [error, setError] = useState();
  if (!["retrying", "delivered", "dead"].includes(state)) return null;
  const send = () => client.webhooks.redeliver(webhookId, id).then(() => onDone(`Delivery ${id} is sent again.`), setError);
  const text = state === "delivered" ? "Send again" : "Send now";
  return html`<button class="plain" onClick=${send}>${text}<span class="hidden"> delivery ${id}</span></button>
    <${Failure} error=${error} />`;
};

export const Deliveries = ({ webhookId, tip, onDone }) => {
  const [state, setState] = useState("");
  const list = (query, options) => client.webhooks.deliveries(webhookId, { ...query, state: state || undefined }, options);
  const empty = state === "" ? "Nothing was sent yet." : "There are none in this state.";
  const table = (rows) => html`<${Table} caption="Deliveries" rows=${rows} empty=${empty} columns=${[
    ["Delivery", ({ id }) => html`<a href=${link("webhooks", webhookId, String(id))}>${id}</a>`],
    ["State", (row) => html`<span class=${`${kindOf(row.state)} state`}>${states[row.state]}</span>`],
    ["Last answer", ({ attempts }) => (attempts.length === 0 ? "–" : answerOf(attempts.at(-1)))],
    ["Send", (row) => html`<${Send} of=${row} onDone=${onDone} />`],
    ["Next attempt", ({ dueAt }) => (dueAt === null ? "–" : html`<${Time} unix=${dueAt / 1000} short />`)],
    ["Attempts", ({ attemptCount }) => count(attemptCount), "num"],
    ["Event time", ({ timestamp }) => html`<${Time} unix=${timestamp / 1000} short />`],
    ["Event", ({ event }) => event],
  ]} />`;
  return html`<${Card} title="Deliveries, newest first" wide>
    <div class="row"><label for="state">Show</label><select id="state" value=${state} onChange=${({ target }) => setState(target.value)}>
      <option value="">all</option>
      ${Object.entries(states).map(([value, text]) => html`<option key=${value} value=${value}>${text}</option>`)}
    </select></div>
    <${Paged} name=${`${webhookId} ${state}`} list=${list} tip=${tip} show=${table} />
  <//>`;
};

export const Delivery = ({ webhookId, id, tip }) => {
  const [done, setDone] = useState({ times: 0 });
  const { value, error } = useLoaded((signal) => client.webhooks.delivery(webhookId, id, { signal }), [id, tip, done.times]);
  if (value === undefined) return html`<h1 tabindex="-1">Delivery ${id}</h1><${Failure} error=${error} />`;
  return html`<h1 tabindex="-1">Delivery ${id} of webhook ${webhookId}</h1><${Failure} error=${error} />
    <p><a href=${link("webhooks", webhookId)}>All deliveries</a></p>
    ${done.text && html`<p class="notice good" role="status">${done.text}</p>`}
    <div class="grid">
      <${Card} title="Delivery" wide>
        <${Facts} rows=${[
          ["Event", value.event],
          ["State", html`<span class=${kindOf(value.state)}>${states[value.state]}</span>`],
          ["Event time", html`<${Time} unix=${value.timestamp / 1000} />`],
          ["Next attempt", value.dueAt !== null && html`<${Time} unix=${value.dueAt / 1000} />`],
          ["webhook-id", html`<span class="id">${value.messageId}</span>`],
        ]} />
        <div class="row"><${Send} of=${value} onDone=${(text) => setDone({ times: done.times + 1, text })} /></div>
      <//>
      <${Card} title=${`Attempts (${count(value.attemptCount)})`} wide><${Attempts} attempts=${value.attempts} /><//>
      <${Card} title="Payload" wide><pre tabindex="0">${jsonText(value.payload)}</pre><//>
    </div>`;
};

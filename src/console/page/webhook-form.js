// The form that makes and changes webhooks, and tries their conditions on recent payloads.
import { html, useState } from "./lib/preact.js";
import { client } from "./api.js";
import { Failure, jsonText, Notice, Table, Time } from "./parts.js";

const example = '[{"key": "amount", "condition": "gte", "value": 100000000}]';

const listOf = (text) => text.split(",").map((one) => one.trim()).filter((one) => one !== "");

/** What the form says, by the names that the node has for it. */
const draftOf = (form) => {
  const data = new FormData(form);
  const text = (name) => data.get(name).trim();
  const wholeOr = (name, other) => (text(name) === "" ? other : Number(text(name)));
  const conditions = text("conditions");
  const draft = {
    events: listOf(text("events")),
    target: text("target"),
    match: data.get("match"),
    enabled: data.get("enabled") === "on",
    order: data.get("order"),
    confirmations: text("confirmations") === "final" ? "final" : wholeOr("confirmations", 0),
    batch: wholeOr("batch-size", 1) === 1 ? null : { size: wholeOr("batch-size", 1), wait: wholeOr("batch-wait", 0) },
    rate: wholeOr("rate", null),
    tags: listOf(text("tags")),
    description: text("description"),
    ...(text("from") === "" ? {} : { from: /^\d+$/.test(text("from")) ? Number(text("from")) : text("from") }),
  };
  try {
    return { ...draft, conditions: conditions === "" ? [] : JSON.parse(conditions) };
  } catch (error) {
    throw new Error(`The conditions are not valid JSON: ${error.message}`, { cause: error });
  }
};

/** The members that differ from those of a webhook: what is not changed here is not sent. */
const changesOf = (draft, webhook) => Object.fromEntries(Object.entries(draft).filter(([name, value]) => jsonText(value) !== jsonText(webhook[name])));

/** The first event that a list of names and patterns asks for; the node tries conditions on the payloads of one. */
const firstEvent = (names, events) => {
  const asksFor = (name, event) => name === event || name === "*" || (name.endsWith(".*") && event.startsWith(name.slice(0, -1)));
  return names.flatMap((name) => events.filter(({ event }) => asksFor(name, event)))[0]?.event ?? names[0];
};

const Trial = ({ results }) => html`
  <p class="notice" role="status">${results.length === 0
    ? "The node has kept no payload of this event yet."
    : `${results.filter(({ matches }) => matches).length} of the last ${results.length} payloads would have been sent.`}</p>
  ${results.length > 0 && html`<${Table} caption="Conditions tried on recent payloads" keyOf=${({ timestamp, index }) => `${timestamp} ${index}`}
    rows=${results.map((result, index) => ({ ...result, index }))} columns=${[
      ["Sent", ({ matches }) => (matches ? html`<b class="good">yes</b>` : "no")],
      ["When", ({ timestamp }) => timestamp !== null && html`<${Time} unix=${timestamp / 1000} short />`],
      ["Why", ({ conditions }) => (conditions.length === 0 ? "no conditions: every event is sent" : conditions.map(({ reason }) => reason).join(" "))],
    ]} />`}`;

/** What few webhooks need. */
const More = ({ webhook = {} }) => {
  const { order = "first", confirmations = 0, batch, rate, tags = [], description = "" } = webhook;
  const orders = { first: "first attempts in order", strict: "strictly in order", none: "in any order" };
  return html`<details><summary>More</summary><div class="stack">
    <label for="from">${webhook.id === undefined ? "Begin at: tip, genesis, or a height (empty: tip)" : "Continue from: tip, genesis, or a height (empty: its position)"}</label>
    <input id="from" name="from" />
    <label for="order">Order</label>
    <select id="order" name="order">${Object.entries(orders).map(([value, text]) => html`<option key=${value} value=${value} selected=${value === order}>${text}</option>`)}</select>
    <label for="confirmations">Confirmations: a number of blocks, or final</label>
    <input id="confirmations" name="confirmations" pattern="[0-9]+|final" defaultValue=${confirmations} />
    <label for="batch-size">Events in one request, at the most</label>
    <input id="batch-size" name="batch-size" type="number" min="1" max="100" defaultValue=${batch?.size ?? 1} />
    <label for="batch-wait">Milliseconds to wait for them</label>
    <input id="batch-wait" name="batch-wait" type="number" min="0" max="60000" defaultValue=${batch?.wait ?? 0} />
    <label for="rate">Deliveries per second, at the most (empty: no limit)</label>
    <input id="rate" name="rate" type="number" min="0" step="any" defaultValue=${rate ?? ""} />
    <label for="tags">Tags, separated by commas</label>
    <input id="tags" name="tags" defaultValue=${tags.join(", ")} />
    <label for="description">Description</label>
    <input id="description" name="description" defaultValue=${description} />
  </div></details>`;
};

/** `webhook`: the one to change; undefined to make one. `onDone` gets the node's answer. */
export const WebhookForm = ({ webhook, events, onDone }) => {
  const [state, setState] = useState({});
  const act = (work) => async (event) => {
    event.preventDefault();
    const form = event.target.closest("form");
    setState({ isBusy: true });
    try {
      setState(await work(draftOf(form)));
    } catch (error) {
      setState({ error });
    }
  };
  const save = act(async (draft) => {
    onDone(webhook === undefined ? await client.webhooks.create(draft) : await client.webhooks.update(webhook.id, changesOf(draft, webhook)));
    return {};
  });
  const attempt = act(async ({ events: names, conditions, match }) => {
    return { results: await client.webhooks.dryRun({ event: firstEvent(names, events), conditions, match }) };
  });
  const { event = "transaction.applied", target = "", conditions = [], match = "any", enabled = true } = webhook ?? {};
  return html`<form class="stack" onSubmit=${save}>
    <label for="events">Events, separated by commas; transaction.* means all of transactions</label>
    <input id="events" name="events" required list="event-names" spellcheck=${false} defaultValue=${(webhook?.events ?? [event]).join(", ")} />
    <datalist id="event-names">${events.map((one) => html`<option key=${one.event} value=${one.event} />`)}</datalist>
    <label for="target">Target, an http or https URL</label>
    <input id="target" name="target" type="url" required defaultValue=${target} placeholder="https://example.org/hook" />
    <label for="conditions">Conditions, as JSON; empty: every event</label>
    <textarea id="conditions" name="conditions" spellcheck=${false} placeholder=${example} defaultValue=${conditions.length === 0 ? "" : jsonText(conditions)}></textarea>
    <label for="match">It is sent when</label>
    <select id="match" name="match"><option value="any" selected=${match === "any"}>any condition holds</option><option value="all" selected=${match === "all"}>all conditions hold</option></select>
    <div class="row"><input id="enabled" name="enabled" type="checkbox" defaultChecked=${enabled} /> <span><label for="enabled" class="inline">Enabled</label></span></div>
    <${More} webhook=${webhook} />
    <div class="row">
      <button disabled=${state.isBusy}>${webhook === undefined ? "Create webhook" : "Save"}</button>
      <button type="button" class="plain" disabled=${state.isBusy} onClick=${attempt}>Try the conditions</button>
    </div>
    <${Failure} error=${state.error} />
    ${state.results !== undefined && html`<${Trial} results=${state.results} />`}
    ${webhook === undefined && html`<${Notice}>Nothing is sent by trying.<//>`}
  </form>`;
};

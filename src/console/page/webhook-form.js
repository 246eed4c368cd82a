// The form that makes and changes webhooks, and tries their conditions on recent payloads.
import { html, useState } from "./lib/preact.js";
import { ask } from "./api.js";
import { Failure, Notice, Table } from "./parts.js";

const example = '[{"key": "amount", "condition": "gte", "value": 100000000}]';

const draftOf = (form) => {
  const data = new FormData(form);
  const text = data.get("conditions").trim();
  const draft = { event: data.get("event"), target: data.get("target").trim(), match: data.get("match"), enabled: data.get("enabled") === "on" };
  try {
    return { ...draft, conditions: text === "" ? [] : JSON.parse(text) };
  } catch (error) {
    throw new Error(`The conditions are not valid JSON: ${error.message}`, { cause: error });
  }
};

const Trial = ({ results }) => html`
  <p class="notice" role="status">${results.length === 0
    ? "The node has kept no payload of this event yet."
    : `${results.filter(({ matches }) => matches).length} of the last ${results.length} payloads would have been sent.`}</p>
  ${results.length > 0 && html`<${Table} caption="Conditions tried on recent payloads" keyOf=${({ timestamp, index }) => `${timestamp} ${index}`}
    rows=${results.map((result, index) => ({ ...result, index }))} columns=${[
      ["Sent", ({ matches }) => (matches ? html`<b class="good">yes</b>` : "no")],
      ["When", ({ timestamp }) => (timestamp === null ? "" : new Date(timestamp).toLocaleTimeString())],
      ["Why", ({ conditions }) => (conditions.length === 0 ? "no conditions: every event is sent" : conditions.map(({ reason }) => reason).join(" "))],
    ]} />`}`;

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
    const path = webhook === undefined ? "/webhooks" : `/webhooks/${webhook.id}`;
    const reply = await ask(path, { method: webhook === undefined ? "POST" : "PUT", body: draft, withToken: true });
    onDone(reply.data);
    return {};
  });
  const attempt = act(async ({ event, conditions, match }) => {
    const { data } = await ask("/webhooks/dry-run", { body: { event, conditions, match }, withToken: true });
    return { results: data };
  });
  const { event = "transaction.applied", target = "", conditions = [], match = "any", enabled = true } = webhook ?? {};
  return html`<form class="stack" onSubmit=${save}>
    <label for="event">Event</label>
    <select id="event" name="event">${events.map((one) => html`<option key=${one.event} value=${one.event} selected=${one.event === event}>${one.event}</option>`)}</select>
    <label for="target">Target, an http or https URL</label>
    <input id="target" name="target" type="url" required defaultValue=${target} placeholder="https://example.org/hook" />
    <label for="conditions">Conditions, as JSON; empty: every event</label>
    <textarea id="conditions" name="conditions" spellcheck=${false} placeholder=${example} defaultValue=${conditions.length === 0 ? "" : JSON.stringify(conditions, null, 2)}></textarea>
    <label for="match">It is sent when</label>
    <select id="match" name="match"><option value="any" selected=${match === "any"}>any condition holds</option><option value="all" selected=${match === "all"}>all conditions hold</option></select>
    <div class="row"><input id="enabled" name="enabled" type="checkbox" defaultChecked=${enabled} /> <span><label for="enabled" class="inline">Enabled</label></span></div>
    <div class="row">
      <button disabled=${state.isBusy}>${webhook === undefined ? "Create webhook" : "Save"}</button>
      <button type="button" class="plain" disabled=${state.isBusy} onClick=${attempt}>Try the conditions</button>
    </div>
    <${Failure} error=${state.error} />
    ${state.results !== undefined && html`<${Trial} results=${state.results} />`}
    ${webhook === undefined && html`<${Notice}>Nothing is sent by trying.<//>`}
  </form>`;
};

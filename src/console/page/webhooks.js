// Webhooks: what there is, where each stands, and its deliveries. All of it needs the node's webhook token.
import { html, useEffect, useRef, useState } from "./lib/preact.js";
import { client, isRefused, keepToken, readToken } from "./api.js";
import { Backlog, Deliveries, Delivery } from "./deliveries.js";
import { Card, count, Facts, Failure, jsonText, link, Table, Time, useLoaded } from "./parts.js";
import { WebhookForm } from "./webhook-form.js";

const blocksText = (number) => `${count(number)} ${Number(number) === 1 ? "block" : "blocks"}`;

const TokenForm = ({ onToken, error }) => {
  const enter = (event) => {
    event.preventDefault();
    keepToken(new FormData(event.target).get("token").trim());
    onToken();
  };
  return html`<h1 tabindex="-1">Webhooks</h1>
    <div class="grid"><${Card} title="The node's webhook token" wide>
      <p class="notice">Webhooks are for those who run this node. The token is the value of --webhook-token, or the content of the file webhook-token in the data folder. This page keeps it until the tab is closed.</p>
      <form class="stack" onSubmit=${enter}>
        <label for="token">Token</label><input id="token" name="token" type="password" autocomplete="off" required />
        <div class="row"><button>Continue</button></div>
      </form>
      <${Failure} error=${error} />
    <//></div>`;
};

/** Asks for the token until there is one that the node takes. */
const withToken = (Inner) => (props) => {
  const [entered, setEntered] = useState(0);
  const { error, isLoading, value } = useLoaded(async (signal) => (readToken() === "" ? undefined : (await client.webhooks.events({}, { signal })).data), [entered]);
  const forget = () => {
    keepToken("");
    setEntered(entered + 1);
  };
  const isWrong = isRefused(error, 401);
  if (isWrong || readToken() === "") return html`<${TokenForm} onToken=${() => setEntered(entered + 1)} error=${isWrong ? new Error("The node does not accept this token.") : undefined} />`;
  if (value === undefined) return html`<h1 tabindex="-1">Webhooks</h1>${isLoading ? null : html`<${Failure} error=${error} />`}`;
  return html`<${Inner} ...${props} events=${value} forget=${forget} />`;
};

const reasons = { gone: "its target answered 410 (gone)", failing: "every attempt has failed for days" };
const stateOf = ({ enabled, disabledBecause, failingSince }) => {
  if (!enabled) return html`<span class=${disabledBecause === null ? "" : "bad"}>${disabledBecause === null ? "disabled" : `disabled: ${reasons[disabledBecause] ?? disabledBecause}`}</span>`;
  return failingSince === null ? html`<span class="good">enabled</span>` : html`<span class="bad">failing since <${Time} unix=${failingSince / 1000} /></span>`;
};

const Secret = ({ made }) => {
  // The form that asked for it may be a screen below.
  const place = useRef();
  useEffect(() => place.current.scrollIntoView({ block: "center" }), [made]);
  return html`<${Card} title=${`Webhook ${made.id ?? ""}: its token and secret, shown only once`} wide>
    <p role="status" ref=${place}>Keep them. Receivers need them to verify deliveries.</p>
    <${Facts} rows=${[["Token", html`<span class="secret">${made.token}</span>`], ["Secret", html`<span class="secret">${made.secret}</span>`]]} />
  <//>`;
};

export const Webhooks = withToken(({ events, forget, tip }) => {
  const [made, setMade] = useState();
  const { value, error } = useLoaded(async (signal) => client.webhooks.list({ limit: 100 }, { signal }), [tip, made]);
  const { data = [], meta } = value ?? {};
  return html`<h1 tabindex="-1">Webhooks</h1><${Failure} error=${error} />
    <div class="grid">
      ${made && html`<${Secret} made=${made} />`}
      <${Card} title=${meta?.totalCount > data.length ? `The first ${data.length} of ${count(meta.totalCount)} webhooks` : "All webhooks"} wide>
        <${Table} caption="Webhooks" rows=${data} empty="There are none yet." columns=${[
          ["Webhook", ({ id }) => html`<a href=${link("webhooks", String(id))}>${id}</a>`],
          ["State", (webhook) => html`${stateOf(webhook)}${webhook.pausedUntil && html`, paused until <${Time} unix=${webhook.pausedUntil / 1000} />`}`],
          ["Behind", ({ behind }) => (behind === undefined || behind === null ? "–" : blocksText(behind)), "num"],
          ["Target", ({ target }) => target, "long"],
          ["Events", ({ event, events: names }) => (names ?? [event]).join(", ")],
        ]} />
      <//>
      <${Card} title="A new webhook" wide><${WebhookForm} key=${made?.id} events=${events} onDone=${setMade} /><//>
    </div>
    <p><button class="plain" onClick=${forget}>Forget the token</button></p>`;
});

const Replay = ({ id, onDone }) => {
  const [error, setError] = useState();
  const replay = async (event) => {
    event.preventDefault();
    const data = new FormData(event.target);
    try {
      await client.webhooks.replay(id, { from: Number(data.get("from")), to: Number(data.get("to")) });
      setError(undefined);
      onDone("The events of these blocks are sent again.");
    } catch (failure) {
      setError(failure);
    }
  };
  return html`<form onSubmit=${replay} class="row">
    <label for="replay-from">From block</label><input id="replay-from" name="from" type="number" min="1" required />
    <label for="replay-to">to</label><input id="replay-to" name="to" type="number" min="1" required />
    <button class="plain">Replay</button><${Failure} error=${error} />
  </form>`;
};

const One = ({ id, tip, events }) => {
  const [done, setDone] = useState({ times: 0 });
  const [isEditing, setEditing] = useState(false);
  const { value: webhook, error } = useLoaded((signal) => client.webhooks.get(id, { signal }), [id, tip, done.times]);
  const tell = (text, made) => setDone({ times: done.times + 1, text, made });
  const act = (work) => () => work().catch((failure) => setDone({ times: done.times, failure }));
  const ping = act(async () => {
    await client.webhooks.ping(id);
    tell("A ping is on its way.");
  });
  const resume = act(async () => {
    await client.webhooks.update(id, { pausedUntil: null });
    tell("Deliveries to its target continue.");
  });
  const rotate = act(async () => {
    const secret = await client.webhooks.rotate(id);
    tell(undefined, { id, ...secret });
  });
  const remove = act(async () => {
    if (!confirm(`Delete webhook ${id} and its deliveries?`)) return;
    await client.webhooks.delete(id);
    location.hash = "#/webhooks";
  });
  if (webhook === undefined) return html`<h1 tabindex="-1">Webhook ${id}</h1><${Failure} error=${error} />`;
  return html`<h1 tabindex="-1">Webhook ${id}</h1><${Failure} error=${error ?? done.failure} />
    ${done.text && html`<p class="notice good" role="status">${done.text}</p>`}
    <div class="grid">
      ${done.made && html`<${Secret} made=${done.made} />`}
      <${Backlog} webhook=${webhook} tip=${`${tip} ${done.times}`} onDone=${tell} />
      <${Card} title="Webhook" wide>
        <${Facts} rows=${[
          ["Events", (webhook.events ?? [webhook.event]).join(", ")],
          ["Target", webhook.target],
          ["State", stateOf(webhook)],
          ["Target paused", webhook.pausedUntil && html`until <${Time} unix=${webhook.pausedUntil / 1000} />`],
          ["Position", webhook.cursor && `${webhook.cursor}, ${blocksText(webhook.behind)} behind`],
          ["Description", webhook.description || undefined],
          ["Tags", webhook.tags?.length > 0 ? webhook.tags.join(", ") : undefined],
          ["Conditions", webhook.conditions.length === 0 ? "none" : html`<pre tabindex="0">${jsonText(webhook.conditions)}</pre>`],
          ["Created", html`<${Time} unix=${webhook.createdAt / 1000} />`],
        ]} />
        <div class="row">
          <button class="plain" onClick=${ping}>Ping</button>
          ${webhook.pausedUntil && html`<button class="plain" onClick=${resume}>End the pause</button>`}
          <button class="plain" onClick=${() => setEditing(!isEditing)} aria-expanded=${isEditing}>Edit</button>
          <button class="plain" onClick=${rotate}>New secret</button>
          <button class="danger" onClick=${remove}>Delete</button>
        </div>
        <${Replay} id=${id} onDone=${tell} />
      <//>
      ${isEditing && html`<${Card} title="Edit the webhook" wide><${WebhookForm} webhook=${webhook} events=${events} onDone=${() => { setEditing(false); tell("The webhook was changed."); }} /><//>`}
      <${Deliveries} webhookId=${id} tip=${`${tip} ${done.times}`} onDone=${tell} />
    </div>`;
};

export const Webhook = withToken((props) => (props.rest[0] === undefined ? html`<${One} ...${props} />` : html`<${Delivery} webhookId=${props.id} id=${props.rest[0]} tip=${props.tip} />`));

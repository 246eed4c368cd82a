// What the pages ask the node. Amounts come as text, so that no digit is lost.

/** `/api`, or wherever the interface is mounted. */
export const base = location.pathname.replace(/\/console\/?$/, "");

const tokenKey = "portico-webhook-token";
/** Kept until the tab is closed. */
export const readToken = () => sessionStorage.getItem(tokenKey) ?? "";
export const keepToken = (token) => (token === "" ? sessionStorage.removeItem(tokenKey) : sessionStorage.setItem(tokenKey, token));

/** A reply other than 2xx. */
export class Refusal extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

/** What browsers throw where nobody answers says that in other words in each of them. */
const unanswered = (error) => {
  throw error instanceof TypeError ? new Error("The node does not answer.", { cause: error }) : error;
};

/** Asks the node; `body` makes it a POST. */
export const ask = async (path, { method, body, signal, withToken = false } = {}) => {
  const headers = { "API-Amounts": "string" };
  if (withToken) headers.Authorization = readToken();
  if (body !== undefined) headers["Content-Type"] = "application/json";
  const reply = await fetch(base + path, { method: method ?? (body === undefined ? "GET" : "POST"), headers, body: body === undefined ? undefined : JSON.stringify(body), signal }).catch(unanswered);
  const text = await reply.text();
  const json = text === "" ? {} : JSON.parse(text);
  if (!reply.ok && !(reply.status === 503 && json.status !== undefined)) throw new Refusal(reply.status, json.message ?? json.error ?? `The node answered ${reply.status}.`);
  return json;
};

/** The data of a reply; undefined where there is nothing of the kind. */
export const find = async (path, options) => {
  try {
    return (await ask(path, options)).data;
  } catch (error) {
    if (error instanceof Refusal && [400, 404, 422, 501].includes(error.status)) return undefined;
    throw error;
  }
};

const pause = 1000;
/** How often a node without a stream is asked before the stream is tried again: it may have had too many, or been about to stop. */
const tries = 5;

/**
 * Calls `onTip` whenever there may be a new block: by the node's event stream, or once a second while it has none. `onState` is told
 * "live", "polling" or "lost". Returns how to stop.
 */
export const followTip = (onTip, onState) => {
  let source;
  let timer;
  let last;

  const poll = async (left) => {
    const block = await find("/blockchain").then((chain) => chain?.block, () => undefined);
    if (source === undefined) return;
    onState(block === undefined ? "lost" : "polling");
    if (block !== undefined && block.id !== last) onTip();
    last = block?.id;
    timer = setTimeout(left === 0 ? listen : poll, pause, left - 1);
  };

  const listen = () => {
    source = new EventSource(`${base}/events?event=block.applied,block.reverted`);
    for (const name of ["block.applied", "block.reverted"]) source.addEventListener(name, onTip);
    source.onopen = () => {
      onState("live");
      onTip();
    };
    // A stream that breaks off is opened again by the browser, not one that is refused.
    source.onerror = () => {
      if (source?.readyState === EventSource.CLOSED) void poll(tries);
      else onState("lost");
    };
  };

  listen();
  return () => {
    clearTimeout(timer);
    source.close();
    source = undefined;
  };
};

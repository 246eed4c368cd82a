// The node, as the pages ask it: by portico/client, and what that has no method for.
import { createClient, PorticoClientError, TransportError } from "./lib/client.js";

/** `/api`, or wherever the interface is mounted. */
export const base = location.pathname.replace(/\/console\/?$/, "");

const tokenKey = "portico-webhook-token";
/** Kept until the tab is closed. */
export const readToken = () => sessionStorage.getItem(tokenKey) ?? "";

/** Pages ask again with each block anyway. To the client, an origin alone means that the interface is at `/api`. */
const connect = () => createClient(`${location.origin}${base || "//"}`, { retries: 0, token: readToken() || undefined });
export let client = connect();

export const keepToken = (token) => {
  if (token === "") sessionStorage.removeItem(tokenKey);
  else sessionStorage.setItem(tokenKey, token);
  client = connect();
};

/** An error in words. What browsers throw where nobody answers says that in other words in each of them. */
export const wordsOf = (error) => {
  const isSilent = error instanceof TypeError || (error instanceof TransportError && error.status === undefined);
  return isSilent ? "The node does not answer." : error.message;
};

export const isRefused = (error, ...statuses) => error instanceof PorticoClientError && statuses.includes(error.status);

/** Undefined where there is nothing of the kind. */
export const orNothing = async (asked) => {
  try {
    return await asked;
  } catch (error) {
    if (isRefused(error, 400, 404, 422, 501)) return undefined;
    throw error;
  }
};

/** The only row of a list, or undefined. */
export const first = async (list) => (await orNothing(list))?.data[0];

/** Whether the node is ready. A 503 says why it is not. */
export const askHealth = async (signal) => (await fetch(`${base}/health/ready`, { signal })).json();

/** The node's metrics, by name and labels as Prometheus writes them; none where it shows none. */
export const askMetrics = async (signal) => {
  const reply = await fetch(`${base}/metrics`, { signal });
  const lines = reply.ok ? (await reply.text()).split("\n").filter((line) => /^[a-z]/.test(line)) : [];
  return Object.fromEntries(lines.map((line) => [line.slice(0, line.lastIndexOf(" ")), Number(line.slice(line.lastIndexOf(" ") + 1))]));
};

const events = ["block.applied", "block.reverted"];
/** Milliseconds after which a node is asked again that did not answer, or that has no events. */
const [pause, longPause] = [1000, 4000];

/** Calls `onTip` now and with each new block, and `onState` with "live" or "lost". Returns how to stop. */
export const followTip = (onTip, onState) => {
  const ending = new AbortController();
  const { signal } = ending;
  const follow = async () => {
    for (let [after, wait] = ["tip", 0]; !signal.aborted; ) {
      try {
        const { data, meta } = await client.events.feed({ event: events, after, wait }, { signal });
        onState("live");
        if (wait === 0 || data.length > 0) onTip();
        [after, wait] = [meta.cursor, 20];
      } catch (error) {
        if (signal.aborted) return;
        // A host's own chain may offer no changes: there may be a block after each pause.
        const hasNone = isRefused(error, 501);
        onState(hasNone ? "live" : "lost");
        if (hasNone) onTip();
        [after, wait] = ["tip", 0];
        await new Promise((resolve) => setTimeout(resolve, hasNone ? longPause : pause));
      }
    }
  };
  void follow();
  return () => ending.abort();
};

"use strict";
const { SwaggerUIBundle } = window;
const generation = new URLSearchParams(location.search).get("generation") ?? "2";
const address = new URL(`openapi.json?generation=${generation}`, document.baseURI).href;
document.querySelector(`nav a[href$="=${generation}"]`)?.setAttribute("aria-current", "page");
const dark = matchMedia("(prefers-color-scheme: dark)");
const dress = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
dress();
dark.addEventListener("change", dress);

/** Gives the parameters of all requests, and the members of their bodies, values that this node has. Others keep their examples. */
const fill = async ({ servers, paths }) => {
  const get = async (path) => {
    const reply = await fetch(`${new URL(servers[0].url, address).href.replace(/\/$/, "")}/v2/${path}`);
    return reply.ok ? reply.json() : {};
  };
  const first = async (list, order = "") => (await get(`${list}?limit=1${order}`)).data?.[0] ?? {};
  const lists = ["transactions", "transactions/unconfirmed", "votes", "locks", "peers"].map((list) => first(list));
  const [block, { username, publicKey, address: forger }] = await Promise.all([
    first("blocks"),
    first("delegates", "&orderBy=producedBlocks:desc"),
  ]);
  // Those of a whole chain take seconds.
  const from = block.height && String(Math.max(1, block.height - 1000));
  const [transaction, waiting, vote, { lockId }, { ip, port }, { data: rewards }, lake] = await Promise.all([
    ...lists,
    from && username ? get(`delegates/${username}/rewards?from=${from}`) : {},
    paths["/lake/manifest.json"] === undefined ? {} : get("lake/manifest.json"),
  ]);

  const wallet = { username, publicKey, address: forger, generatorPublicKey: publicKey, senderId: transaction.sender };
  const named = { ...wallet, q: username, ip, port };
  const after = block.height && String(block.height - 1);
  const inBodies = { ...named, ids: lockId && [lockId], after, from: block.height, to: block.height };
  const ofBlocks = { blocks: block.id, transactions: transaction.id, unconfirmed: waiting.id, votes: vote.id, locks: lockId };
  const ids = { wallets: forger, delegates: username, rounds: 1, ...ofBlocks };
  const manifests = lake.previous && `${lake.previous}.json`;
  const files = { blocks: lake.blocks?.[0]?.file, snapshots: lake.snapshots?.[0]?.file, manifests };
  for (const [path, operations] of Object.entries(paths)) {
    const [things, of] = path.replace(/^\/v[12]/, "").split("/").slice(1);
    const inPath = { ...named, id: ids[of] ?? ids[things], file: files[of]?.split("/").at(-1) };
    const isRewards = path.includes("/rewards");
    if (isRewards) Object.assign(inPath, { from, address: rewards?.voters[0]?.address });
    for (const { parameters = [], requestBody } of Object.values(operations)) {
      for (const parameter of parameters) {
        const value = parameter.required || isRewards || path.endsWith("/get") ? inPath[parameter.name] : undefined;
        if (value !== undefined) parameter.example = value;
      }
      const body = requestBody?.content["application/json"].example ?? {};
      for (const name of Object.keys(body)) body[name] = inBodies[name] ?? body[name];
    }
  }
};

/** A part of the document, with what it refers to in the place of references. */
const resolved = (part, whole) => {
  if (typeof part !== "object" || part === null) return part;
  if (Array.isArray(part)) return part.map((one) => resolved(one, whole));
  const { $ref, ...rest } = part;
  const meant = $ref?.split("/").slice(1).reduce((at, name) => at[name], whole);
  return Object.fromEntries(Object.entries({ ...meant, ...rest }).map(([name, value]) => [name, resolved(value, whole)]));
};

/**
 * In the place of what takes Swagger UI seconds with a document of this size: reading it as YAML, and resolving all of it. And a
 * parameter that is JSON is a field, no file to be chosen.
 */
const reading = () => ({
  fn: { resolveSubtree: (whole, path) => ({ errors: [], spec: resolved(path.reduce((at, name) => at[name], whole), whole) }) },
  afterLoad() {
    this.fn.isFileUploadIntended = () => false;
  },
  statePlugins: {
    spec: {
      wrapActions: {
        parseToJson: (_read, { specActions }) => async (text) => {
          const described = JSON.parse(text);
          // A node that answers late is not waited for.
          await Promise.race([fill(described).catch(console.error), new Promise((resolve) => setTimeout(resolve, 2000))]);
          specActions.updateJsonSpec(described);
        },
      },
    },
  },
});

/** Of a stream, which may have no end, what comes within two seconds, and 100 kB at the most. */
const beginning = async (url, request) => {
  const reply = await fetch(url, request);
  if (!/event-stream|ndjson/.test(reply.headers.get("content-type"))) return reply;
  const reader = reply.body.pipeThrough(new TextDecoderStream()).getReader();
  const end = setTimeout(() => reader.cancel(), 2000);
  let text = "";
  for (let part = await reader.read(); !part.done && text.length < 100_000; part = await reader.read()) text += part.value;
  clearTimeout(end);
  void reader.cancel();
  return new Response(text, { status: reply.status, headers: reply.headers });
};

window.ui = SwaggerUIBundle({
  url: address,
  domNode: document.getElementById("reference"),
  plugins: [reading],
  requestInterceptor: (request) => Object.assign(request, { userFetch: beginning }),
  responseInterceptor: (reply) => {
    if (reply.status === 401 && reply.url.includes("/webhooks")) document.querySelector("button.authorize")?.click();
    return reply;
  },
  deepLinking: true,
  defaultModelsExpandDepth: -1,
  displayRequestDuration: true,
  docExpansion: "none",
  filter: true,
  persistAuthorization: false,
  tryItOutEnabled: true,
  validatorUrl: null,
});

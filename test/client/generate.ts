import { v2Routes } from "../../src/api/index.js";
import { StatementRowResource } from "../../src/api/statement/row.js";
import { coreAssets } from "../../src/api/v2/transactions.js";
import { BlockHeader, eventPayload, wireForm } from "../../src/api/webhooks/requests.js";
import { conditionsInput } from "../../src/api/webhooks/schemas.js";
import { coreTransactionTypes } from "../../src/chain/blocks/transaction-types.js";
import { type ErrorCode, errorTable } from "../../src/errors.js";
import { describeEvents } from "../../src/follow/event-catalogue.js";
import { isBookingEvent } from "../../src/follow/event-names.js";
import { exactKeyword, inputKeyword, type InputKind, isoDate } from "../../src/http/input/schema.js";
import { isSchema, type JsonSchema } from "../../src/http/json-schema.js";
import { capitalized, replySchema, routeName } from "../../src/http/route-properties.js";
import { Meta } from "../../src/http/input/query.js";
import type { Route } from "../../src/http/route.js";
import { liveRoutes } from "../../src/live/routes.js";
import { Type } from "@sinclair/typebox";

/** Writes the types and the table of operations of `portico/client` from the routes: `npm run docs`. */

const widest = 140;

/** Types by name, in the order in which they are met. */
const declared = new Map<string, string>();

const declare = (name: string, text: string): string => {
  const present = declared.get(name);
  if (present !== undefined && present !== text) throw new TypeError(`Two schemas are called "${name}":\n${present}\n${text}`);
  declared.set(name, text);
  return name;
};

const unique = (types: readonly string[]): string => [...new Set(types)].join(" | ");

/** The fields of an order; undefined for any other schema. */
const orderFields = ({ enum: orders }: JsonSchema): string[] | undefined =>
  Array.isArray(orders) && String(orders[0]).endsWith(":asc") ? unique(orders.map((order: string) => JSON.stringify(order.split(":")[0]))).split(" | ") : undefined;

const ofKind = (accepts: JsonSchema): string => {
  const fields = orderFields(accepts);
  if (fields !== undefined) return `Order<${fields.join(" | ")}>`;
  if (String(accepts.pattern).includes(isoDate.source)) return "string | number";
  return typeOf(accepts, true);
};

const ofAmount = ({ pattern }: JsonSchema): string => (pattern !== undefined && new RegExp(pattern as string).test("") ? "bigint | null" : "bigint");

const longestComment = 90;
/** The first sentence, where it is short: the manual has the rest. That an amount is one, its type says. */
const comment = (text: unknown): string => {
  const [sentence = ""] = /^.*?[.:](?= |$)/.exec(typeof text === "string" ? text : "") ?? [];
  const saysNothing = sentence.split(" ").length < 3 || /^(Whole number of 1e-8|The order of)/.test(sentence);
  return saysNothing || sentence.length > longestComment ? "" : `/** ${sentence.replace(/:$/, ".")} */ `;
};

const member = (name: string, schema: unknown, isOptional: boolean, input: boolean): string => {
  const key = /^[\w$]+$/.test(name) ? name : JSON.stringify(name);
  const type = typeOf(schema, input);
  const either = isOptional && input && type !== "unknown" ? " | undefined" : "";
  return `${comment(isSchema(schema) ? schema.description : undefined)}${key}${isOptional ? "?" : ""}: ${type}${either};`;
};

/** Texts in as few lines as they fit in. */
const packed = (texts: readonly string[], separator = " "): string => {
  const lines: string[] = [];
  for (const text of texts.flatMap((text) => (text.length > widest ? text.split(/(?<=;) | (?=\| )/) : [text]))) {
    const longer = `${lines.at(-1) ?? ""}${separator}${text}`;
    if (lines.length === 0 || longer.length + 2 > widest) lines.push(text);
    else lines[lines.length - 1] = longer;
  }
  return lines.map((line) => `  ${line.trim()}`).join("\n");
};

const membersOf = (schema: JsonSchema, input: boolean): string[] => {
  const required = Array.isArray(schema.required) ? schema.required : [];
  return Object.entries(schema.properties as JsonSchema).map(([name, part]) => {
    const isOptional = !required.includes(name) || (input && isSchema(part) && "default" in part);
    return member(name, part, isOptional, input);
  });
};

/** Whether it is a transaction, which has another asset for each type. */
const hasAssets = ({ properties, required }: JsonSchema): boolean => {
  const { asset } = (properties ?? {}) as Record<string, JsonSchema>;
  return asset !== undefined && Array.isArray(asset.anyOf) && Array.isArray(required) && required.includes("type");
};

const transactionType = (schema: JsonSchema): string => {
  const { asset: _asset, type: _type, ...properties } = schema.properties as JsonSchema;
  const members = declare(`${String(schema.title)}Members`, `interface ${String(schema.title)}Members {\n${packed(membersOf({ ...schema, properties }, false))}\n}`);
  return `type ${String(schema.title)} = ${members} & WithAsset`;
};

const interfaceOf = (name: string, members: readonly string[]): string => {
  const line = `interface ${name} { ${members.join(" ")} }`;
  return line.length + "export ".length > widest ? `interface ${name} {\n${packed(members)}\n}` : line;
};

const ofObject = (schema: JsonSchema, input: boolean): string => {
  const { properties, additionalProperties, patternProperties, title } = schema;
  const values = additionalProperties ?? (isSchema(patternProperties) ? Object.values(patternProperties)[0] : undefined);
  if (!isSchema(properties) || Object.keys(properties).length === 0) return `Record<string, ${isSchema(values) ? typeOf(values, input) : "unknown"}>`;
  const names = Object.keys(properties);
  if (input && unique(names) === "from | to") {
    const bound = typeOf(properties.from, true);
    return schema[exactKeyword] === true ? `${bound} | Range<${bound}>` : `Range<${bound}>`;
  }
  const members = membersOf(schema, input);
  if (typeof title !== "string") return `{ ${members.join(" ").replace(/;$/, "")} }`;
  if (typeof schema.properties === "object" && title.endsWith("OfHost")) {
    const whole = title.replace("OfHost", "OfEvent");
    if (declared.get(whole) === interfaceOf(whole, members.map((text) => text.replace("?:", ":")))) return declare(title, `type ${title} = Partial<${whole}>`);
  }
  const name = title.replace("AssetOfEvent", "Asset") + (input ? "Input" : "");
  return declare(name, hasAssets(schema) ? transactionType(schema) : interfaceOf(name, members));
};

const simple: Record<string, string> = { string: "string", integer: "number", number: "number", boolean: "boolean", null: "null" };

const typeOf = (schema: unknown, input: boolean): string => {
  if (!isSchema(schema)) return "unknown";
  if (inputKeyword in schema) return ofKind((schema[inputKeyword] as InputKind<unknown>).accepts);
  if (schema["x-amount"] !== undefined) return ofAmount(schema);
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (Array.isArray(schema.enum)) return unique(schema.enum.map((value) => JSON.stringify(value)));
  if (Array.isArray(schema.anyOf)) {
    const forms = schema.anyOf.map((form) => typeOf(form, input));
    // Whatever else there is, is one, too.
    return forms.includes("Record<string, unknown>") ? "Record<string, unknown>" : unique(forms);
  }
  if (Array.isArray(schema.type)) return unique((schema.type as string[]).map((type) => typeOf({ ...schema, type }, input)));
  if (schema.type === "array") {
    const item = typeOf(schema.items, input);
    return `${input ? "readonly " : ""}${/[|&]/.test(item) && !item.startsWith("{") ? `(${item})` : item}[]`;
  }
  if (schema.type === "object") return ofObject(schema, input);
  return simple[String(schema.type)] ?? "unknown";
};

/** The paths of amounts within a value: members by name, `*` for each of a list or map. */
const amountPaths = (schema: unknown): string[] => {
  if (!isSchema(schema)) return [];
  if (schema["x-amount"] !== undefined) return [""];
  const below = (step: string, part: unknown): string[] => amountPaths(part).map((path) => (path === "" ? step : `${step}.${path}`));
  const forms = Array.isArray(schema.anyOf) ? schema.anyOf.flatMap(amountPaths) : [];
  const members = isSchema(schema.properties) ? Object.entries(schema.properties).flatMap(([name, part]) => below(name, part)) : [];
  return [...new Set([...forms, ...members, ...below("*", schema.items), ...below("*", schema.additionalProperties)])];
};

/** Texts of which several are alike, each written once under a name. */
const shared = new Map<string, string>();
const sharedAmounts = (schema: unknown): string | undefined => {
  const text = amountPaths(schema).join(" ");
  const title = isSchema(schema) ? schema.title : undefined;
  if (text === "") return undefined;
  if (typeof title !== "string") return JSON.stringify(text);
  shared.set(title, JSON.stringify(text));
  return title;
};

type AnyRoute = Route;

const live = liveRoutes({ conditions: conditionsInput, eventNames: [], events: [], offersChanges: true } as unknown as Parameters<typeof liveRoutes>[0]);
/** Streams have methods of their own: `follow` and `changes`. */
const routes = [...v2Routes, ...live].filter(({ path }) => path !== "/events" && path !== "/changes") as unknown as AnyRoute[];

const exceptions: Record<string, string> = {
  getDelegateVotersBalances: "voterBalances",
  getDelegateReward: "reward",
  getUnconfirmedTransaction: "getUnconfirmed",
  submitTransactions: "submit",
  postEventsFeed: "postFeed",
};

const ofWhole: Record<string, string> = { GET: "get", PUT: "replace", PATCH: "update", DELETE: "delete", POST: "create" };

/** `/wallets/{id}/votes` → `votes`, `/webhooks/{id}/deliveries/{deliveryId}` → `delivery`. */
const methodName = (route: AnyRoute): string => {
  const given = exceptions[routeName(route)];
  if (given !== undefined) return given;
  const segments = route.path.split("/").slice(1);
  if (segments.length === 1) return route.kind === "list" ? "list" : (ofWhole[route.method] ?? "");
  const last = segments.at(-1) ?? "";
  if (!last.startsWith("{")) return capitalized(last).replace(/^./, (letter) => letter.toLowerCase());
  if (segments.length === 2) return ofWhole[route.method] ?? "";
  return (segments.at(-2) ?? "").replace(/ies$/, "y");
};

const numbered = new Set(["blocks", "rounds", "webhooks"]);
const paging = { page: "number", limit: "number", offset: "number" };

/** What of an input is a name of events. */
const withEventNames = (text: string): string =>
  text
    .replaceAll(/\bevent\?: string( \| undefined)?;/g, "event?: AnyEventName$1;")
    .replaceAll(/\b(events?)\?: readonly string\[\]/g, "$1?: readonly EventSelector[]");

const named = new Map<string, string>();
/** The type of an input: the same members have one name. */
const inputType = (name: string, properties: JsonSchema, schema: JsonSchema): string => {
  if (Object.keys(properties).length === 0) return "";
  const members = membersOf({ ...schema, properties }, true).map(withEventNames);
  const text = members.join("\n");
  const present = named.get(text);
  if (present !== undefined) return present;
  named.set(text, name);
  return declare(name, interfaceOf(name, members));
};

const withoutPages = (properties: JsonSchema): JsonSchema => Object.fromEntries(Object.entries(properties).filter(([name]) => !(name in paging)));

interface Written {
  group: string;
  row: string;
  methods: string[];
}

const isStatement = ({ path }: AnyRoute): boolean => path.endsWith("/statement");
/** Whether the client checks the reply by its proof, if asked to. */
const isProven = ({ path }: AnyRoute): boolean => path === "/transactions/{id}";
const isFeed = ({ path }: AnyRoute): boolean => path === "/events/feed";

/** Whether what is left out makes the client's own form of a reply another. */
const isChosenHere = new Set(["format", "unit"]);

const argumentsOf = (route: AnyRoute): string[] => {
  const name = capitalized(routeName(route));
  const path = Object.keys(route.params?.properties ?? {}).map((each) => `${each}: ${numbered.has(route.resource) ? "string | number" : "string"}`);
  if (routeName(route) === "submitTransactions") return [...path, "transactions: readonly object[]"];
  const query = Object.fromEntries(Object.entries((route.query?.properties ?? {}) as JsonSchema).filter(([each]) => !isChosenHere.has(each)));
  const body = (route.body ?? {}) as JsonSchema;
  const ofBody = (body.properties ?? {}) as JsonSchema;
  const members = { ...(route.kind === "list" ? withoutPages(query) : query), ...ofBody };
  const required = [...((body.required ?? []) as string[]), ...(route.query?.required ?? []).filter((each) => !(each in ofBody))];
  const own = inputType(`${name}${route.body === undefined ? "Query" : "Body"}`, members, { required });
  const types = [
    ...(own === "" ? [] : [own]),
    ...(route.kind === "list" ? ["Paging"] : []),
    ...(route.atHeight === true ? ["AtHeight"] : []),
    ...(isProven(route) ? ["WithProof"] : []),
  ];
  if (types.length === 0) return path;
  const isOptional = route.body === undefined || route.bodyOptional === true;
  return [...path, `${route.body === undefined ? "query" : "body"}${isOptional ? "?" : ""}: ${types.join(" & ")}`];
};

interface Reply {
  kind: string;
  type: string;
  amounts?: string | undefined;
}

const replyOf = (route: AnyRoute): Reply => {
  if (isStatement(route)) return { kind: "lines", type: `AsyncIterable<${typeOf(StatementRowResource, false)}>`, amounts: sharedAmounts(StatementRowResource) };
  if (isFeed(route)) return { kind: "feed", type: "Promise<EventFeed>" };
  if (route.kind === "list") return { kind: "list", type: `List<${typeOf(route.item, false)}>`, amounts: sharedAmounts(route.item) };
  const { properties } = replySchema(route) as JsonSchema;
  const { data, meta: _meta, ...others } = properties as JsonSchema;
  if (data === undefined) return { kind: "none", type: "Promise<void>" };
  // What stands beside `data` is returned with it.
  const isAlone = Object.keys(others).length === 0;
  const whole = isAlone ? data : { ...(data as JsonSchema), title: (replySchema(route) as JsonSchema).title, properties: { ...((data as JsonSchema).properties as JsonSchema), ...others } };
  return { kind: "data", type: `Promise<${typeOf(whole, false)}>`, amounts: sharedAmounts(whole) };
};

const writeRoute = (route: AnyRoute): Written => {
  const [name, given, reply] = [methodName(route), argumentsOf(route), replyOf(route)];
  const hasInput = given.some((each) => /^(query|body|transactions)\??:/.test(each));
  const marks = [
    ...(hasInput ? [route.body === undefined ? "query" : "body"] : []),
    ...(route.atHeight === true ? ["at"] : []),
    ...(route.authenticated === true ? ["token"] : []),
    ...(isProven(route) ? ["proof"] : []),
  ];
  const how = JSON.stringify([route.method, route.path, reply.kind, ...marks].join(" "));
  const row = reply.amounts === undefined ? how : `[${how}, ${reply.amounts}]`;
  const signature = (name: string, type: string): string => `  ${name}(${[...given, "options?: CallOptions"].join(", ")}): ${type};`;
  const methods = [`  /** ${/^.*?\.(?= |$)/.exec(route.summary)?.[0] ?? route.summary} */\n${signature(name, reply.type)}`];
  if (name === "get" && route.params !== undefined) methods.push(signature("find", reply.type.replace(/>$/, " | undefined>")));
  return { group: route.resource, row: `    ${name}: ${row},`, methods };
};

const ownEvents = ["webhook.disabled", "webhook.failing", "webhook.enabled", "delivery.dead"];

const eventTypes = (): { text: string; amounts: string } => {
  const described = describeEvents([], true);
  const rows = described.map((event) => [event.event, eventPayload(event)] as const);
  const own = ownEvents.map((event) => [event, eventPayload({ event, source: "webhooks" })] as const);
  const line = ([event, schema]: readonly [string, unknown]): string => `  ${JSON.stringify(event)}: ${typeOf(schema, false)};`;
  const names = described.map(({ event }) => event);
  const prefixes = [...new Set(names.flatMap((name) => [...name.matchAll(/\./g)].map(({ index }) => `${name.slice(0, index)}.*`)))];
  const amounts = rows.flatMap(([event, schema]) => {
    const text = sharedAmounts(schema);
    return text === undefined ? [] : [`  ${JSON.stringify(event)}: ${text},`];
  });
  const [feed] = routes.filter(isFeed).map((route) => replySchema(route) as JsonSchema);
  const { data, meta } = feed?.properties as Record<string, JsonSchema>;
  const followed = data?.items as JsonSchema;
  const ofEach: Record<string, string> = { event: "event: Each;", data: "data: Events[Each];" };
  const members = Object.keys(followed.properties as object).map((name, place) => ofEach[name] ?? membersOf(followed, false)[place] ?? "");
  return {
    text: `/** An event: \`event\` says what \`data\` is. */
export type FollowedEvent<Name extends EventName = EventName> = {
  [Each in Name]: {\n${packed(members).replaceAll(/^/gm, "  ")}\n  };
}[Name];
export interface EventFeed { data: FollowedEvent[]; meta: ${typeOf(meta, false)} }

/** The \`data\` of each event that can be followed. */
export interface Events {\n${rows.map(line).join("\n")}\n}

/** The same with those about webhooks, which only webhooks get. */
export interface AnyEvents extends Events {\n${own.map(line).join("\n")}\n}

export type EventName = keyof Events;
export type AnyEventName = keyof AnyEvents;
export type EventPattern =\n${wrapped(["*", ...prefixes, "webhook.*", "delivery.*"])};
export type EventSelector = AnyEventName | EventPattern;

/** What \`*\` leaves out. */
export type BookingEvent = ${unique(names.filter(isBookingEvent).map((name) => JSON.stringify(name)))};`,
    amounts: amounts.join("\n"),
  };
};

const assetTypes = (): string => {
  const types = [...new Set(coreTransactionTypes.map(({ type }) => type))];
  const assets = types.map((type) => {
    const row = coreTransactionTypes.find(({ type: each, versions = [2] }) => each === type && versions.includes(2));
    const schema = Object.entries(coreAssets).find(([key]) => key === row?.key)?.[1];
    return schema === undefined ? `  | { type: ${type}; asset?: Record<string, unknown> }` : `  | { type: ${type}; asset: ${typeOf(schema, false)} }`;
  });
  return `/**
 * The asset by \`type\`, of the types of group 1 in version 2. Where a fork has types of its own, look at \`typeGroup\` first.
 */
export type WithAsset =\n${assets.join("\n")};`;
};

const heading = "/** Made by `npm run docs` from the routes' schemas. */\n";

const codes = (Object.keys(errorTable) as ErrorCode[]).filter((code) => errorTable[code].exposed || code === "INTERNAL");

const wrapped = (names: readonly string[]): string => packed(names.map((name) => `| ${JSON.stringify(name)}`));

/** A line of `/changes`: the block is that of a chain file. */
const Change = Type.Object(
  {
    kind: Type.Unsafe({ type: "string", enum: ["applied", "reverted"] }),
    block: Type.Object(
      { ...BlockHeader.properties, transactions: Type.Array(Type.Object({ ...wireForm, timestamp: Type.Optional(Type.Integer()) }, { title: "WireTransaction" })) },
      { title: "WholeBlock" },
    ),
    cursor: Type.String({ description: "Where to go on after it." }),
    digest: Type.Optional(Type.String({ description: "Of the state after it." })),
  },
  { title: "Change" },
);

/** The texts of the files in `src/client` that are made. */
export const clientFiles = (): Record<"schemas.ts" | "operations.ts", string> => {
  const written = routes.map(writeRoute);
  typeOf(Meta, false);
  typeOf(Change, false);
  const changeAmounts = sharedAmounts(Change) ?? "";
  const [events, assets] = [eventTypes(), assetTypes()];
  const types = [...declared.values()].map((text) => `export ${text}${text.startsWith("type") ? ";" : ""}`).join("\n");
  const groups = [...new Set(written.map(({ group }) => group))];
  const ofGroup = (group: string): Written[] => written.filter((each) => each.group === group);
  const interfaces = groups.map((group) => `export interface ${capitalized(group)}Operations {\n${ofGroup(group).flatMap(({ methods }) => methods).join("\n")}\n}`);
  const used = [...declared.keys(), "AtHeight", "EventFeed", "Paging"].filter((name) => new RegExp(`\\b${name}\\b`).test(interfaces.join("\n"))).sort();
  return {
    "schemas.ts": `${heading}/* oxlint-disable max-lines */

/** A field, alone (ascending) or with its direction. */
export type Order<Field extends string> = Field | \`\${Field}:\${"asc" | "desc"}\`;

/** Both ends are included. */
export interface Range<Bound> {
  from?: Bound | undefined;
  to?: Bound | undefined;
}

export interface Paging {
${Object.entries(paging).map(([name, type]) => `  ${name}?: ${type} | undefined;`).join("\n")}
}

export interface AtHeight {
  /** Height or id of a block, a time or a day. The reply is of the state when that block was the tip. */
  at?: string | number | undefined;
}

export type ErrorCode =
${wrapped(codes)};

${types}

${assets}

${events.text}
`,
    "operations.ts": `import type {
${packed(used.map((name) => `${name},`))}
} from "./schemas.js";
import type { List } from "./list.js";
import type { WithProof } from "./proof.js";
import type { CallOptions } from "./transport.js";

${heading}
${interfaces.join("\n\n")}

export interface Operations {
${groups.map((group) => `  ${group}: ${capitalized(group)}Operations;`).join("\n")}
}

/** Where a reply has amounts: members by name, \`*\` for each of a list or map. */
${[...shared].map(([name, text]) => `const ${name} =${text.length + name.length > widest - 12 ? "\n " : ""} ${text};`).join("\n")}

/** Method, path, kind of reply and input of each operation, and where its \`data\`, or each row of it, has amounts. */
export const operations: Record<string, Record<string, string | readonly [how: string, amounts: string]>> = {
${groups.map((group) => `  ${group}: {\n${ofGroup(group).map(({ row }) => row).join("\n")}\n  },`).join("\n")}
};

/** Where the \`data\` of events has amounts. */
export const eventAmounts: Partial<Record<string, string>> = {
${events.amounts}
};

export const changeAmounts = ${changeAmounts};
`,
  };
};

export const clientFile = (name: string): URL => new URL(`../../src/client/${name}`, import.meta.url);

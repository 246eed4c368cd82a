import { startNode } from "../fixtures/node.js";

/** What clients rely on in an OpenAPI document, and what another document takes from them. */

type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };
type Schema = { readonly [keyword: string]: Json };
export interface Document {
  readonly [section: string]: Json;
}

/** The document of the last release; `npm run docs:openapi` writes this node's. */
export const baseline = new URL("openapi.json", import.meta.url);

export const servedDocument = async (): Promise<Document> => {
  const node = await startNode({ options: { metrics: true } });
  return (await node.get("/openapi.json")).json as Document;
};

const remarks = new Set(["description", "summary", "example", "examples", "tags"]);
/** Their members have names of their own, which may be those of remarks. */
const sections = ["paths", "webhooks", "schemas", "responses", "headers", "securitySchemes"];
const named = new Set([...sections, "properties", "patternProperties", "content"]);

/** Without what is only for readers. */
const pruned = (value: Json, hasNames: boolean): Json => {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((item: Json) => pruned(item, false));
  const kept = Object.entries(value).filter(([name]) => hasNames || !remarks.has(name));
  return Object.fromEntries(kept.map(([name, member]) => [name, pruned(member, !hasNames && named.has(name))]));
};

/** JSON, with a line for each member of so many levels. */
const written = (value: Json, levels: number): string => {
  if (levels === 0 || typeof value !== "object" || value === null) return JSON.stringify(value);
  return `{\n${Object.entries(value).map(([name, member]) => `${JSON.stringify(name)}:${written(member, levels - 1)}`).join(",\n")}\n}`;
};

/** A line for each path and each schema, so that changes can be read. */
export const baselineText = (document: Document): string => {
  const { paths = {}, webhooks = {}, components = {} } = pruned(document, false) as Document;
  return `{"paths":${written(paths, 1)},\n"webhooks":${written(webhooks, 1)},\n"components":${written(components, 2)}}\n`;
};

/** A parameter, a body or a reply, or a member of one. */
interface Part {
  /** Of what a client sends: needed. Of what it gets: always there. */
  always: boolean;
  types: Set<string>;
}
type Parts = Map<string, Part>;
const empty: Part = { always: true, types: new Set() };

interface Reading {
  document: Document;
  /** Of what clients send, each value of an enumeration counts; of what they get, more may come. */
  isSent: boolean;
  /** References that are being followed. */
  within: readonly string[];
}

const anything = ["array", "boolean", "integer", "null", "number", "object", "string"];
const typeOf = (value: Json): string => (value === null ? "null" : Array.isArray(value) ? "array" : Number.isInteger(value) ? "integer" : typeof value);

const typesOf = ({ type, const: only, enum: values }: Schema, isSent: boolean): string[] => {
  const listed = only === undefined ? (values as readonly Json[] | undefined) : [only];
  if (listed !== undefined) return listed.map((value) => (isSent ? JSON.stringify(value) : typeOf(value)));
  const types = type === undefined ? anything : [type].flat().map(String);
  return types.includes("number") ? [...types, "integer"] : types;
};

const resolve = (value: Json, document: Document): Schema => {
  const { $ref } = value as Schema;
  if (typeof $ref !== "string") return value as Schema;
  const keys = $ref.slice(2).split("/").map((key) => key.replaceAll("~1", "/").replaceAll("~0", "~"));
  return resolve(keys.reduce<Json>((at, key) => (at as Schema)[key] ?? {}, document), document);
};

/** Of alternatives, what all objects among them have is always there. */
const either = (alternatives: readonly Parts[], own: string): Parts => {
  const objects = alternatives.filter((parts) => parts.get(own)?.types.has("object"));
  const names = new Set(alternatives.flatMap((parts) => [...parts.keys()]));
  return new Map(
    [...names].map((name) => {
      const always = name === own || objects.every((parts) => parts.get(name)?.always === true);
      return [name, { always, types: new Set(alternatives.flatMap((parts) => [...(parts.get(name)?.types ?? [])])) }];
    }),
  );
};

const partsOf = (given: Json, name: string, reading: Reading): Parts => {
  const { $ref } = given as Schema;
  const within = typeof $ref === "string" ? [...reading.within, $ref] : reading.within;
  if (typeof $ref === "string" && reading.within.includes($ref)) return new Map([[name, { always: true, types: new Set([$ref]) }]]);
  const schema = typeof given === "boolean" ? {} : resolve(given, reading.document);
  const below = { ...reading, within };
  const alternatives = (schema.anyOf ?? schema.oneOf) as readonly Json[] | undefined;
  if (alternatives !== undefined) return either(alternatives.map((each) => partsOf(each, name, below)), name);
  const parts: Parts = new Map([[name, { always: true, types: new Set(typesOf(schema, reading.isSent)) }]]);
  const required = (schema.required ?? []) as readonly string[];
  for (const [member, inner] of Object.entries((schema.properties ?? {}) as Schema)) {
    const found = partsOf(inner, `${name}.${member}`, below);
    for (const [path, part] of found) parts.set(path, path === `${name}.${member}` ? { ...part, always: required.includes(member) } : part);
  }
  for (const other of [schema.items, schema.additionalProperties, ...Object.values((schema.patternProperties ?? {}) as Schema)]) {
    if (typeof other === "object") for (const [path, part] of partsOf(other, `${name}[]`, below)) parts.set(path, part);
  }
  return parts;
};

interface Operation {
  sent: Parts;
  received: Parts;
}

const contentOf = (value: Json, name: string, reading: Reading): Parts => {
  const content = Object.entries((resolve(value, reading.document).content ?? {}) as Schema);
  return new Map(content.flatMap(([type, media]) => [...partsOf((media as Schema).schema ?? {}, `${name} ${type}`, reading)]));
};

const parametersOf = (operation: Schema, reading: Reading): Parts => {
  const parameters = ((operation.parameters ?? []) as readonly Json[]).map((parameter) => resolve(parameter, reading.document));
  return new Map(
    parameters.flatMap((parameter) => {
      const { in: place, name: own } = parameter as Record<string, string>;
      const name = `${place} ${own}`;
      const parts = partsOf(parameter.schema ?? {}, name, reading);
      return [...parts].map(([path, part]) => [path, path === name ? { ...part, always: parameter.required === true } : part] as const);
    }),
  );
};

const bodyOf = ({ requestBody }: Schema, reading: Reading): Parts => {
  if (requestBody === undefined) return new Map();
  const isNeeded = resolve(requestBody, reading.document).required === true;
  const parts = [...contentOf(requestBody, "body", reading)];
  return new Map(parts.map(([path, part]) => [path, path.includes(".") ? part : { ...part, always: part.always && isNeeded }]));
};

/** Operations by method and path; of webhooks, the node is who sends. */
const operationsOf = (document: Document): Map<string, Operation> => {
  const sent: Reading = { document, isSent: true, within: [] };
  const received: Reading = { ...sent, isSent: false };
  const list = (section: string): [string, Schema][] =>
    Object.entries((document[section] ?? {}) as Schema).flatMap(([path, methods]) =>
      Object.entries(methods as Schema).map(([method, operation]): [string, Schema] => [`${method.toUpperCase()} ${path}`, operation as Schema]),
    );
  const own = list("paths").map(([name, operation]): [string, Operation] => {
    const replies = Object.entries((operation.responses ?? {}) as Schema).filter(([status]) => /^2/.test(status));
    return [
      name,
      {
        sent: new Map([...parametersOf(operation, sent), ...bodyOf(operation, sent)]),
        received: new Map(replies.flatMap(([status, reply]) => [[status, empty] as const, ...contentOf(reply, status, received)])),
      },
    ];
  });
  const webhooks = list("webhooks").map(([name, operation]) => [`webhook ${name}`, { sent: new Map(), received: bodyOf(operation, received) }] as const);
  return new Map([...own, ...webhooks]);
};

/** A value of an enumeration is taken where its type is. */
const isTaken = (type: string, types: ReadonlySet<string>): boolean =>
  types.has(type) || (/^["\d-]|^(?:true|false)$/.test(type) && types.has(typeOf(JSON.parse(type) as Json)));

const sentBreaks = (before: Parts, after: Parts): string[] => [
  ...[...before].flatMap(([name, { always, types }]) => {
    const now = after.get(name);
    if (now === undefined) return [`no longer takes ${name}`];
    const lost = [...types].filter((type) => !isTaken(type, now.types));
    return [...(now.always && !always ? [`now needs ${name}`] : []), ...(lost.length > 0 ? [`no longer takes ${lost.join(", ")} for ${name}`] : [])];
  }),
  ...[...after].flatMap(([name, { always }]) => {
    const parent = name.replace(/(?:\.[^.[\]]+|\[\])$/, "");
    return always && !before.has(name) && (parent === name || before.has(parent)) && !name.endsWith("[]") ? [`now needs ${name}`] : [];
  }),
];

const receivedBreaks = (before: Parts, after: Parts): string[] =>
  [...before].flatMap(([name, { always, types }]) => {
    const now = after.get(name);
    if (now === undefined) return [`no longer has ${name}`];
    const added = [...now.types].filter((type) => !types.has(type));
    return [...(always && !now.always ? [`may lack ${name}`] : []), ...(added.length > 0 ? [`has ${added.join(", ")} for ${name}`] : [])];
  });

/** What clients of the first document would miss in the second, each in a line. */
export const breaksOf = (before: Document, after: Document): string[] => {
  const now = operationsOf(after);
  return [...operationsOf(before)].flatMap(([name, operation]) => {
    const same = now.get(name);
    if (same === undefined) return [`${name} is gone`];
    return [...sentBreaks(operation.sent, same.sent), ...receivedBreaks(operation.received, same.received)].map((line) => `${name} ${line}`);
  });
};

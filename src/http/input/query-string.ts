import { inputError } from "../../errors.js";
import { amongKnown } from "../../text/known-names.js";
import { exactKeyword, inputKeyword, textKeyword } from "./schema.js";
import { isSchema, type JsonSchema } from "../json-schema.js";

/** The parameters of a query string in the caller's order, decoded. */
export type QueryPairs = [name: string, value: string][];

const decode = (text: string): string | undefined => {
  if (!/[%+]/.test(text)) {
    return text;
  }
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return undefined;
  }
};

/** Splits a query string (without its `?`). Throws BAD_REQUEST if it is not percent-encoded UTF-8. */
export const parseQuery = (text: string): QueryPairs => {
  if (text === "") {
    return [];
  }
  return text.split("&").flatMap((part): QueryPairs => {
    if (part === "") {
      return [];
    }
    const cut = part.indexOf("=");
    const name = decode(cut === -1 ? part : part.slice(0, cut));
    const value = decode(cut === -1 ? "" : part.slice(cut + 1));
    if (name === undefined || value === undefined) {
      throw inputError("query", name ?? "query", "is not percent-encoded UTF-8");
    }
    return [[name, value]];
  });
};

interface Place {
  path: string[];
  many: boolean;
}

const placesOf = (schema: JsonSchema, within: string[]): Map<string, Place> => {
  const places = new Map<string, Place>();
  const properties = isSchema(schema.properties) ? schema.properties : {};
  for (const [name, part] of Object.entries(properties)) {
    const path = [...within, name];
    const nested = isSchema(part) && part.type === "object" && !(inputKeyword in part);
    if (!nested || part[exactKeyword] === true) {
      places.set(path.join("."), { path, many: isSchema(part) && part.type === "array" && part[textKeyword] !== "json" });
    }
    for (const [nestedName, place] of nested ? placesOf(part, path) : []) {
      places.set(nestedName, place);
    }
  }
  return places;
};

/** The list to which a parameter adds an item: client libraries write `ids.0`, `ids[0]` and `ids[]` besides `ids`. */
const listNamed = (name: string): string | undefined => /^(.+?)(?:\.\d{1,3}|\[\d{0,3}\])$/.exec(name)?.[1];

const placeNamed = (places: Map<string, Place>, name: string): Place | undefined => {
  const list = places.get(listNamed(name) ?? "");
  return places.get(name) ?? (list?.many === true ? list : undefined);
};

const put = (tree: JsonSchema, name: string, { path, many }: Place, text: string): void => {
  let object = tree;
  for (const step of path.slice(0, -1)) {
    const next = Object.hasOwn(object, step) ? object[step] : {};
    if (!isSchema(next)) {
      throw inputError("query", name, "cannot be given together with a single value");
    }
    object[step] = next;
    object = next;
  }
  const last = path[path.length - 1] ?? name;
  const present = Object.hasOwn(object, last) ? object[last] : undefined;
  if (present !== undefined && !many) {
    throw inputError("query", name, "must be given once");
  }
  object[last] = many ? [...(Array.isArray(present) ? (present as string[]) : []), ...text.split(",")] : text;
};

/**
 * Makes the function that nests query parameters as the schema does: `balance.from=1` becomes `{ balance: { from: "1" } }`, the
 * object that a body would carry. That function throws BAD_REQUEST for a repeated single value and, unless `leaveOutUnknown`, for
 * a name that the schema does not have.
 */
export const createQueryLayout = (schema: unknown, { leaveOutUnknown = false } = {}): ((pairs: QueryPairs) => JsonSchema) => {
  const places = isSchema(schema) ? placesOf(schema, []) : new Map<string, Place>();
  return (pairs) => {
    const tree: JsonSchema = {};
    for (const [name, text] of pairs) {
      const place = placeNamed(places, name);
      if (place === undefined) {
        if (leaveOutUnknown) {
          continue;
        }
        throw inputError("query", name, `is not allowed${amongKnown(name, [...places.keys()])}`);
      }
      put(tree, name, place, text);
    }
    return tree;
  };
};

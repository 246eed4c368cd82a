import { Router } from "@koa/router";
import type { IncomingMessage } from "node:http";
import { inputError } from "../../errors.js";
import { withoutTrailing } from "../../text/digits.js";
import {
  type AmountForm,
  type AmountPrefix,
  formInHeaders,
  formInPath,
  formOf,
  type Generation,
  generationNamed,
  versionInHeaders,
  versionInPath,
} from "./version.js";

/** A path of one generation, with the target of each of its methods. */
interface PathItem<Target> {
  /** As in routes: `/wallets/{id}`. */
  path: string;
  /** Target by method. HEAD has no entry of its own: it uses that of GET. */
  methods: Map<string, Target>;
  /** Whether no path with a parameter stands in for it. */
  reserved: boolean;
  /** Query parameters without which its GET is refused. */
  requires: readonly string[];
}

export interface Match<Target> {
  item: PathItem<Target>;
  /** The path's parameters, decoded. */
  params: Record<string, string>;
}

interface Routing<Target> {
  /**
   * Finds the most specific matching path that answers the method, or else the most specific matching path. Throws BAD_REQUEST for a
   * parameter that is not percent-encoded UTF-8.
   */
  find(path: string, method: string): Match<Target> | undefined;
  /** Every method that is answered at a path. */
  methodsAt(path: string): string[];
}

const parameterOf = /\{(\w+)\}/g;

export const parameterNames = (path: string): string[] => [...path.matchAll(parameterOf)].map((match) => match[1] ?? "");

/** Sorts literal segments before parameters, so that `/wallets/top` is not taken for a wallet named `top`. */
export const bySpecificity = (a: string, b: string): number => {
  const shape = (path: string) =>
    path
      .split("/")
      .map((segment) => (segment.startsWith("{") ? "1" : "0"))
      .join("");
  return shape(a) < shape(b) ? -1 : shape(a) > shape(b) ? 1 : 0;
};

const decode = (name: string, text: string): string => {
  if (!text.includes("%")) {
    return text;
  }
  try {
    return decodeURIComponent(text);
  } catch {
    throw inputError("params", name, "is not percent-encoded UTF-8");
  }
};

const paramsOf = (names: readonly string[], captures: string[]): Record<string, string> => {
  const params: Record<string, string> = {};
  names.forEach((name, index) => (params[name] = decode(name, captures[index] ?? "")));
  return params;
};

const unanswered = (): void => undefined;

/** A path with parameters. */
interface Pattern<Target> {
  layer: Router["stack"][number];
  item: PathItem<Target>;
  names: string[];
}

/** Number of segments and first segment: what a path must share with a pattern to match. Few patterns share both, so few are tried. */
const shapeOf = (path: string): string => {
  const second = path.indexOf("/", 1);
  let slashes = 0;
  for (let at = path.indexOf("/"); at !== -1; at = path.indexOf("/", at + 1)) slashes++;
  return `${slashes} ${second === -1 ? path : path.slice(0, second)}`;
};

/** The target of a method; that of GET also serves HEAD. */
export const targetFor = <Target>({ methods }: PathItem<Target>, method: string): Target | undefined =>
  methods.get(method === "HEAD" ? "GET" : method);

const answers = <Target>(item: PathItem<Target>, method: string): boolean => targetFor(item, method) !== undefined;

/** Makes the routing of one generation. Throws TypeError if two targets have the same method and path. */
export const createRouting = <Target>(
  targets: { method: string; path: string; target: Target; reserved?: boolean; requires?: readonly string[] }[],
): Routing<Target> => {
  const items = new Map<string, PathItem<Target>>();
  for (const { method, path, target, reserved = false, requires = [] } of targets) {
    const item = items.get(path) ?? { path, methods: new Map<string, Target>(), reserved, requires: [] };
    if (item.methods.has(method)) {
      throw new TypeError(`Two routes answer ${method} ${path}.`);
    }
    item.methods.set(method, target);
    if (method === "GET") item.requires = requires;
    items.set(path, item);
  }
  const router = new Router({ sensitive: true, strict: true });
  for (const path of [...items.keys()].sort(bySpecificity).filter((path) => path.includes("{"))) {
    if (path.startsWith("/{")) throw new TypeError(`The path ${path} does not begin with a name.`);
    router.register(path.replaceAll(parameterOf, ":$1"), ["GET"], unanswered, { name: path });
  }
  const byShape = new Map<string, Pattern<Target>[]>();
  for (const layer of router.stack) {
    const path = layer.name ?? "";
    const item = items.get(path);
    const alike = byShape.get(shapeOf(path)) ?? [];
    if (item !== undefined) byShape.set(shapeOf(path), [...alike, { layer, item, names: parameterNames(path) }]);
  }
  const literalAt = (path: string): Match<Target> | undefined => {
    const item = path.includes("{") ? undefined : items.get(path);
    return item && { item, params: {} };
  };
  const patternsAt = (path: string): readonly Pattern<Target>[] => byShape.get(shapeOf(path)) ?? [];
  return {
    find: (path, method) => {
      let first = literalAt(path);
      if (first !== undefined && (first.item.reserved || answers(first.item, method))) return first;
      for (const { layer, item, names } of patternsAt(path)) {
        if ((first === undefined || answers(item, method)) && layer.match(path)) {
          const match = { item, params: paramsOf(names, layer.captures(path)) };
          if (answers(item, method)) return match;
          first = match;
        }
      }
      return first;
    },
    methodsAt: (path) => {
      const literal = literalAt(path);
      const found = literal?.item.reserved === true ? [] : patternsAt(path).filter(({ layer }) => layer.match(path));
      return [literal, ...found].flatMap((match) => [...(match?.item.methods.keys() ?? [])]);
    },
  };
};

/** A request target, split into its parts. */
interface Target {
  /** As sent, percent-encoded. */
  path: string;
  /** Without its question mark. */
  query: string;
}

/** The path and query of a request target, also of one in absolute form (`http://host/path`). */
export const localTarget = (url: string): string =>
  url.startsWith("/") ? url : url.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i, "");

/** Splits a request target. */
export const targetOf = (url: string): Target => {
  const [local = ""] = localTarget(url).split("#", 1);
  const cut = local.indexOf("?");
  return cut === -1 ? { path: local, query: "" } : { path: local.slice(0, cut), query: local.slice(cut + 1) };
};

interface LocateNeeds<Entry> {
  basePath: string;
  defaultVersion: Generation;
  /** The form of amounts for requests that name none. */
  amounts: AmountForm;
  routings: Readonly<Record<Generation, Routing<Entry>>>;
}

/** The generation of a request, and what of its form the path itself has chosen. */
export interface ChosenBy {
  generation: Generation;
  /** Whether the path itself names the generation. */
  versioned: boolean;
  /** What the path begins with to choose the form of amounts. */
  prefix: AmountPrefix;
}

/** Where a request leads: to a path of a generation (`match`), to its path without the trailing slash (`redirect`), or nowhere. */
export interface Whereabouts<Entry> extends ChosenBy {
  /** "unknown" if a header of the second generation names a form that does not exist. */
  amounts: AmountForm | "unknown";
  match: Match<Entry> | undefined;
  redirect: string | undefined;
}

const doesAnswer = <Entry>(match: Match<Entry> | undefined, method: string): boolean =>
  match !== undefined && answers(match.item, method);

const isLiteral = <Entry>(match: Match<Entry> | undefined): boolean => match?.item.path.includes("{") === false;

/**
 * Finds the route of a request that names no generation: in the default one, or in the other if only that has the path, or answers
 * the method there. A literal path of the other wins over a parameter of the default one: in `/delegates/get`, `get` is not a delegate.
 * Not so `/delegates/search` without what the first generation searches for: whoever asks that means the search of the second, which says
 * how.
 */
const choose = <Entry>(needs: LocateNeeds<Entry>, { path, query, method }: { path: string; query: string; method: string }) => {
  const usual = needs.defaultVersion;
  const other: Generation = usual === 1 ? 2 : 1;
  const match = needs.routings[usual].find(path, method);
  const otherMatch = needs.routings[other].find(path, method);
  const lacksOne = (names: readonly string[]): boolean => names.some((name) => !new URLSearchParams(query).has(name));
  const isIncomplete = (): boolean =>
    isLiteral(needs.routings[usual].find(path, "POST")) && otherMatch !== undefined && lacksOne(otherMatch.item.requires);
  const spelledOut = isLiteral(otherMatch) && !isLiteral(match) && !isIncomplete();
  const prefersOther = doesAnswer(otherMatch, method) && (spelledOut || !doesAnswer(match, method));
  const isOther = otherMatch !== undefined && (match === undefined || prefersOther);
  return isOther ? { generation: other, match: otherMatch } : { generation: usual, match };
};

const withoutTrailingSlash = ({ path, query }: Target): string => {
  const shorter = withoutTrailing(path, "/").replace(/^\/{2,}/, "/") || "/";
  return query === "" ? shorter : `${shorter}?${query}`;
};

/** Finds a route that both generations share: it answers the same for any named version, even one that does not exist. */
const ofBoth = <Entry>({ routings }: LocateNeeds<Entry>, path: string, method: string): Match<Entry> | undefined => {
  const [first, second] = [routings[1].find(path, method), routings[2].find(path, method)];
  const entry = first && targetFor(first.item, method);
  return entry !== undefined && second !== undefined && targetFor(second.item, method) === entry ? first : undefined;
};

type RequestHead = Pick<IncomingMessage, "url" | "method" | "headers">;

/** Finds the routes of requests below the base path. Version and form of amounts in the path win over those in the headers. */
export interface Locate<Entry> {
  /** Throws UNSUPPORTED_VERSION, and BAD_REQUEST for a path parameter that is not percent-encoded UTF-8. */
  locate(request: RequestHead): Whereabouts<Entry>;
  /** Every method that the path answers, in the named generation, or in both if none is named. Throws UNSUPPORTED_VERSION. */
  methodsAt(request: RequestHead): string[];
}

export const createLocate = <Entry>(needs: LocateNeeds<Entry>): Locate<Entry> => {
  const { basePath, defaultVersion, routings } = needs;

  const cutUp = ({ path }: Target) => {
    // The root is the empty path. Without a base path it is requested as "/".
    const below = path !== "/" && path.startsWith(basePath) ? path.slice(basePath.length) : "";
    const { prefix, path: unprefixed } = formInPath(below);
    return { below, prefix, ...versionInPath(unprefixed) };
  };

  return {
    locate: ({ url = "", method = "", headers }) => {
      const target = targetOf(url);
      const { below, prefix, version, path } = cutUp(target);
      const versioned = version !== 0;
      const found = (generation: Generation, match: Match<Entry> | undefined, redirect?: string): Whereabouts<Entry> => {
        // Headers choose nothing in the first generation.
        const amounts = formOf(prefix) ?? (generation === 1 ? undefined : formInHeaders(headers)) ?? needs.amounts;
        return { generation, versioned, prefix, amounts, match, redirect };
      };
      const named = versioned ? version : versionInHeaders(headers);
      if (named === -1 && !versioned) {
        const match = ofBoth(needs, path, method);
        if (match !== undefined) return found(defaultVersion, match);
      }
      const asked = generationNamed(named);
      if (below.endsWith("/")) return found(asked ?? defaultVersion, undefined, withoutTrailingSlash(target));
      if (asked !== undefined) return found(asked, routings[asked].find(path, method));
      const { generation, match } = choose(needs, { path, query: target.query, method });
      return found(match === undefined ? defaultVersion : generation, match);
    },
    methodsAt: ({ url = "", headers }) => {
      const { version, path } = cutUp(targetOf(url));
      const asked = generationNamed(version === 0 ? versionInHeaders(headers) : version);
      const generations: readonly Generation[] = asked === undefined ? [defaultVersion, defaultVersion === 1 ? 2 : 1] : [asked];
      return [...new Set(generations.flatMap((generation) => routings[generation].methodsAt(path)))];
    },
  };
};

/** Whether a request target is the base path or below it. */
export const isBelow = (target: string, basePath: string): boolean => {
  if (!target.startsWith(basePath)) return false;
  const next = target.charAt(basePath.length);
  return next === "" || next === "/" || next === "?" || next === "#";
};

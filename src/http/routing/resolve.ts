import { withoutTrailing } from "../../text/trim-end.js";
import { type AmountForm, type AmountPrefix, formInPath, formOf, type NamedForm } from "./amounts.js";
import { answers, type Match, type Routing, targetFor } from "./router.js";
import { type Generation, generationNamed, type NamedVersion, versionInPath } from "./version.js";

/** A request target, split into its parts. */
export interface Target {
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

/** A path that is answered. */
interface Located<Entry> extends Match<Entry> {
  generation: Generation;
}

export interface LocateNeeds<Entry> {
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

/** Where a request leads: to a path of a generation (`located`), to its path without the trailing slash (`redirect`), or nowhere. */
export interface Whereabouts<Entry> extends ChosenBy {
  /** "unknown" if a header of the second generation names a form that does not exist. */
  amounts: AmountForm | "unknown";
  located: Located<Entry> | undefined;
  redirect: string | undefined;
}

const doesAnswer = <Entry>(match: Match<Entry> | undefined, method: string): boolean => match !== undefined && answers(match.item, method);

const isLiteral = <Entry>(match: Match<Entry> | undefined): boolean => match?.item.path.includes("{") === false;

// Members are listed one by one, which is faster than spreading: this runs for every request.
const locatedIn = <Entry>(generation: Generation, match: Match<Entry> | undefined): Located<Entry> | undefined =>
  match && { item: match.item, params: match.params, generation };

/**
 * Finds the route of a request that names no generation: in the default one, or in the other if only that has the path, or answers
 * the method there. A literal path of the other wins over a parameter of the default one: in `/delegates/get`, `get` is not a delegate.
 * Not so `/delegates/search` without what the first generation searches for: whoever asks that means the search of the second, which says how.
 */
const choose = <Entry>(needs: LocateNeeds<Entry>, path: string, query: string, method: string): Located<Entry> | undefined => {
  const usual = needs.defaultVersion;
  const other: Generation = usual === 1 ? 2 : 1;
  const match = needs.routings[usual].find(path, method);
  const otherMatch = needs.routings[other].find(path, method);
  const isIncomplete = (): boolean => isLiteral(needs.routings[usual].find(path, "POST")) && otherMatch?.item.requires.some((name) => !new URLSearchParams(query).has(name)) === true;
  const spelledOut = isLiteral(otherMatch) && !isLiteral(match) && !isIncomplete();
  const preferOther = doesAnswer(otherMatch, method) && (spelledOut || !doesAnswer(match, method));
  return otherMatch !== undefined && (match === undefined || preferOther) ? locatedIn(other, otherMatch) : locatedIn(usual, match);
};

const withoutTrailingSlash = ({ path, query }: Target): string => {
  const shorter = withoutTrailing(path, "/").replace(/^\/{2,}/, "/") || "/";
  return query === "" ? shorter : `${shorter}?${query}`;
};

/** Finds a route that both generations share: it answers the same for any named version, even one that does not exist. */
const ofBoth = <Entry>({ routings, defaultVersion }: LocateNeeds<Entry>, path: string, method: string): Located<Entry> | undefined => {
  const [first, second] = [routings[1].find(path, method), routings[2].find(path, method)];
  const entry = first && targetFor(first.item, method);
  return entry !== undefined && second !== undefined && targetFor(second.item, method) === entry ? locatedIn(defaultVersion, first) : undefined;
};

/**
 * Finds the routes of requests below the base path. `named` is the version in the headers, `namedForm` the form of amounts in them;
 * those in the path win over them.
 */
export interface Locate<Entry> {
  /** Throws UNSUPPORTED_VERSION, and BAD_REQUEST for a path parameter that is not percent-encoded UTF-8. */
  locate(target: Target, method: string, named: NamedVersion, namedForm?: NamedForm): Whereabouts<Entry>;
  /** Every method that the target's path answers, in the named generation, or in both if none is named. Throws UNSUPPORTED_VERSION. */
  methodsAt(target: Target, named: NamedVersion): string[];
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
    locate: (target, method, named, namedForm) => {
      const { below, prefix, version, path } = cutUp(target);
      const versioned = version !== 0;
      const found = (generation: Generation, located: Located<Entry> | undefined, redirect?: string): Whereabouts<Entry> => {
        // Headers choose nothing in the first generation.
        const amounts = formOf(prefix) ?? (generation === 1 ? undefined : namedForm) ?? needs.amounts;
        return { generation, versioned, prefix, amounts, located, redirect };
      };
      if (named === -1 && !versioned) {
        const located = ofBoth(needs, path, method);
        if (located !== undefined) return found(defaultVersion, located);
      }
      const asked = generationNamed(versioned ? version : named);
      if (below.endsWith("/")) {
        return found(asked ?? defaultVersion, undefined, withoutTrailingSlash(target));
      }
      if (asked === undefined) {
        const located = choose(needs, path, target.query, method);
        return found(located?.generation ?? defaultVersion, located);
      }
      return found(asked, locatedIn(asked, routings[asked].find(path, method)));
    },
    methodsAt: (target, named) => {
      const { version, path } = cutUp(target);
      const asked = generationNamed(version === 0 ? named : version);
      const generations: readonly Generation[] = asked === undefined ? [defaultVersion, defaultVersion === 1 ? 2 : 1] : [asked];
      return [...new Set(generations.flatMap((generation) => routings[generation].methodsAt(path)))];
    },
  };
};

/** A base path as it is compared with requests: `/api`, or empty for the root. */
export const normalizedBasePath = (basePath: string): string => {
  const names = basePath.split("/").filter((name) => name !== "");
  return names.map((name) => `/${name}`).join("");
};

/** Whether a request target is the base path or below it. */
export const isBelow = (target: string, basePath: string): boolean => {
  if (!target.startsWith(basePath)) return false;
  const next = target.charAt(basePath.length);
  return next === "" || next === "/" || next === "?" || next === "#";
};

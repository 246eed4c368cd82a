import { Router } from "@koa/router";
import { inputError } from "../../errors.js";

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

export interface Routing<Target> {
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

export const answers = <Target>(item: PathItem<Target>, method: string): boolean => targetFor(item, method) !== undefined;

/** Makes the routing of one generation. Throws TypeError if two targets have the same method and path. */
export const createRouting = <Target>(targets: { method: string; path: string; target: Target; reserved?: boolean; requires?: readonly string[] }[]): Routing<Target> => {
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

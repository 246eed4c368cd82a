import { Router } from "@koa/router";
import { inputError } from "./input-reader.js";

/** A path of one generation, with what answers each of its methods. */
export interface PathItem<Target> {
  /** As routes write it: `/wallets/{id}`. */
  path: string;
  /** By method; HEAD is as GET. */
  methods: Map<string, Target>;
}

export interface Match<Target> {
  item: PathItem<Target>;
  /** Text of the path's parameters, decoded. */
  params: Record<string, string>;
}

export interface Routing<Target> {
  /**
   * What answers a method at a path. Of several that could be meant, the most specific one that answers the method; where none does,
   * the most specific one. Throws BAD_REQUEST for a parameter that is no percent-encoded UTF-8.
   */
  find(path: string, method: string): Match<Target> | undefined;
  /** Every method that is answered at a path. */
  methodsAt(path: string): string[];
}

const parameterOf = /\{(\w+)\}/g;

export const parameterNames = (path: string): string[] => [...path.matchAll(parameterOf)].map((match) => match[1] ?? "");

/** Literal segments before parameters, so that `/wallets/top` is not taken for a wallet of that name. */
const bySpecificity = (a: string, b: string): number => {
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

/** What has to be alike for a path to fit: how many segments, and the first of them. Few routes share one, so few are tried. */
const shapeOf = (path: string): string => {
  const second = path.indexOf("/", 1);
  let slashes = 0;
  for (let at = path.indexOf("/"); at !== -1; at = path.indexOf("/", at + 1)) slashes++;
  return `${slashes} ${second === -1 ? path : path.slice(0, second)}`;
};

/** What answers a method; HEAD is answered by what answers GET. */
export const targetFor = <Target>({ methods }: PathItem<Target>, method: string): Target | undefined =>
  methods.get(method === "HEAD" ? "GET" : method);

export const answers = <Target>(item: PathItem<Target>, method: string): boolean => targetFor(item, method) !== undefined;

/** Finds the path of a generation that a request means. Method and path may each be given once. */
export const createRouting = <Target>(targets: { method: string; path: string; target: Target }[]): Routing<Target> => {
  const items = new Map<string, PathItem<Target>>();
  for (const { method, path, target } of targets) {
    const item = items.get(path) ?? { path, methods: new Map<string, Target>() };
    if (item.methods.has(method)) {
      throw new TypeError(`Two routes answer ${method} ${path}.`);
    }
    item.methods.set(method, target);
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
      if (first !== undefined && answers(first.item, method)) return first;
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
      const found = patternsAt(path).filter(({ layer }) => layer.match(path));
      return [literalAt(path), ...found].flatMap((match) => [...(match?.item.methods.keys() ?? [])]);
    },
  };
};

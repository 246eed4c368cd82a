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
  /** Throws BAD_REQUEST for a parameter that is no percent-encoded UTF-8. */
  find(path: string): Match<Target> | undefined;
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
  try {
    return decodeURIComponent(text);
  } catch {
    throw inputError("params", name, "is not percent-encoded UTF-8");
  }
};

const paramsOf = (names: string[], captures: string[]): Record<string, string> =>
  Object.fromEntries(names.map((name, index) => [name, decode(name, captures[index] ?? "")]));

const unanswered = (): void => undefined;

/** Finds the path of a generation that a request means; the most specific one. Method and path may each be given once. */
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
    router.register(path.replaceAll(parameterOf, ":$1"), ["GET"], unanswered, { name: path });
  }
  return {
    find: (path) => {
      const literal = items.get(path);
      if (literal !== undefined && !path.includes("{")) {
        return { item: literal, params: {} };
      }
      const layer = router.match(path, "GET").path[0];
      const item = items.get(layer?.name ?? "");
      if (layer === undefined || item === undefined) {
        return undefined;
      }
      return { item, params: paramsOf(parameterNames(item.path), layer.captures(path)) };
    },
  };
};

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

/** What has to be alike for a path to fit: how many segments, and the first of them. Few routes share one, so few are tried. */
const shapeOf = (path: string): string => {
  const second = path.indexOf("/", 1);
  let slashes = 0;
  for (let at = path.indexOf("/"); at !== -1; at = path.indexOf("/", at + 1)) slashes++;
  return `${slashes} ${second === -1 ? path : path.slice(0, second)}`;
};

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
    if (path.startsWith("/{")) throw new TypeError(`The path ${path} does not begin with a name.`);
    router.register(path.replaceAll(parameterOf, ":$1"), ["GET"], unanswered, { name: path });
  }
  const byShape = new Map<string, typeof router.stack>();
  for (const layer of router.stack) {
    const shape = shapeOf(layer.name ?? "");
    byShape.set(shape, [...(byShape.get(shape) ?? []), layer]);
  }
  const names = new Map([...items.keys()].map((path) => [path, parameterNames(path)]));
  return {
    find: (path) => {
      const literal = items.get(path);
      if (literal !== undefined && !path.includes("{")) {
        return { item: literal, params: {} };
      }
      const layer = byShape.get(shapeOf(path))?.find((candidate) => candidate.match(path));
      const item = items.get(layer?.name ?? "");
      if (layer === undefined || item === undefined) {
        return undefined;
      }
      return { item, params: paramsOf(names.get(item.path) ?? [], layer.captures(path)) };
    },
  };
};

import { withoutTrailing } from "../../text/trim-end.js";

/** What a path may have between a node's interface and a route: the version, and the form of amounts. */
const belowInterface = new Set(["v1", "v2", "strings", "numbers"]);

const pathOf = (names: readonly string[]): string => names.map((name) => `/${name}`).join("");

/** The URL of the interface that was meant, where one names a single request or a part of the interface; undefined where nothing has to be left out. */
export const interfaceMeant = (given: string): string | undefined => {
  const { origin, pathname, search, hash } = new URL(given);
  const names = pathname.split("/").filter((name) => name !== "");
  const last = names.findLastIndex((name) => !belowInterface.has(name.toLowerCase()));
  if (last === names.length - 1 && search === "" && hash === "") return undefined;
  return `${origin}${pathOf(names.slice(0, last + 1))}`;
};

/** The origin of a node has its interface at `/api`; any other path is that of the interface itself. */
export const interfaceUrl = (given: string): string => {
  const url = new URL(given);
  const path = withoutTrailing(url.pathname, "/");
  return `${url.origin}${path === "" ? "/api" : path}`;
};

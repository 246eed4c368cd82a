import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Type } from "@sinclair/typebox";
import { PorticoError } from "../errors.js";
import { type FileAnswer, type Route, routesOf, type Scope } from "../http/route.js";

/** Everything that the page loads, by its name below `/console/`: the page's own files, and those of the packages that it uses. */
const own = ["api.js", "app.js", "chain.js", "delegates.js", "home.js", "node.js", "parts.js", "style.css", "webhook-form.js", "webhooks.js"];

const pageFolder = fileURLToPath(new URL("page/", import.meta.url));
const { resolve } = createRequire(import.meta.url);
/** Its own entry for this file names one that it does not have. */
const htm = (): string => join(dirname(resolve("htm")), "..", "preact");
const uplot = (): string => dirname(resolve("uplot/package.json"));

const packages: Record<string, () => string> = {
  "lib/preact.js": () => join(htm(), "standalone.module.js"),
  "lib/uplot.js": () => join(uplot(), "dist", "uPlot.esm.js"),
  "lib/uplot.css": () => join(uplot(), "dist", "uPlot.min.css"),
};

const types: Record<string, string> = { html: "text/html; charset=utf-8", js: "text/javascript; charset=utf-8", css: "text/css; charset=utf-8" };

/** Nothing from elsewhere, nothing inline: a text of the chain that looked like a script would still not run. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

const headers = ["Content-Security-Policy", policy, "X-Content-Type-Options", "nosniff", "Referrer-Policy", "no-referrer"];

/** Reads each file when it is first asked for, and gives the same answer from then on. */
const createFiles = () => {
  const read = new Map<string, FileAnswer>();
  const pathOf = (name: string): string | undefined => (name === "index.html" || own.includes(name) ? join(pageFolder, name) : Object.hasOwn(packages, name) ? packages[name]?.() : undefined);
  return (name: string): FileAnswer => {
    const known = read.get(name);
    if (known !== undefined) return known;
    const path = pathOf(name);
    if (path === undefined) throw new PorticoError("NOT_FOUND");
    const answer: FileAnswer = { file: readFileSync(path), contentType: types[name.split(".").at(-1) ?? ""] ?? "application/octet-stream", headers };
    read.set(name, answer);
    return answer;
  };
};

/** The console: a page of plain files, which asks the same routes as any client. */
export const consoleRoutes = <State extends Scope>(): Route<State>[] => {
  const { body } = routesOf<State>();
  const file = createFiles();
  const common = { method: "GET", versions: [1, 2], resource: "node", stateless: true, cache: "never", hidden: true } as const;
  const content = { "text/html": Type.String() };
  const name = Type.Object({ name: Type.String() });
  return [
    body({ ...common, path: "/console", operation: "getConsole", summary: "Returns the console, a page for those who run the node.", content, answer: () => file("index.html") }),
    body({ ...common, path: "/console/{name}", operation: "getConsoleFile", summary: "Returns a file of the console.", content, params: name, answer: ({ params }) => file(params.name) }),
    body({ ...common, path: "/console/lib/{name}", operation: "getConsoleLibrary", summary: "Returns a library of the console.", content, params: name, answer: ({ params }) => file(`lib/${params.name}`) }),
  ];
};

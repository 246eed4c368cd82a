import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Type } from "@sinclair/typebox";
import { createPageFiles } from "../http/page-files.js";
import { type Route, routesOf, type Scope } from "../http/route.js";

const scripts = ["api", "app", "chain", "delegates", "deliveries", "home", "node", "parts", "transactions", "webhook-form", "webhooks"].map((name) => `${name}.js`);
const own = ["index.html", "style.css", ...scripts];

const { resolve } = createRequire(import.meta.url);
/** Its own entry for this file names one that it does not have. */
const htm = (): string => join(dirname(resolve("htm")), "..", "preact", "standalone.module.js");
const uplot = (name: string): string => join(dirname(resolve("uplot/package.json")), "dist", name);

/** The package has it bundled (.ci/build.mjs). From source it is bundled here: whatever runs TypeScript has esbuild. */
const client = (): URL | Uint8Array => {
  const path = new URL("page/lib/client.js", import.meta.url);
  if (!import.meta.url.endsWith(".ts")) return path;
  const esbuild = createRequire(import.meta.url)("esbuild") as { buildSync(options: object): { outputFiles: { contents: Uint8Array }[] } };
  const options = { entryPoints: [fileURLToPath(path)], bundle: true, format: "esm", write: false };
  return esbuild.buildSync(options).outputFiles[0]?.contents ?? path;
};

/** Everything that the page loads, by its name below `/console/`: the page's own files, and those of the packages that it uses. */
const paths = new Map<string, () => string | URL | Uint8Array>([
  ...own.map((name) => [name, () => new URL(`page/${name}`, import.meta.url)] as const),
  ["lib/client.js", client],
  ["lib/preact.js", htm],
  ["lib/uplot.js", () => uplot("uPlot.esm.js")],
  ["lib/uplot.css", () => uplot("uPlot.min.css")],
]);

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

/** The console: a page of plain files, which asks the same routes as any client. */
export const consoleRoutes = <State extends Scope>(): Route<State>[] => {
  const { body } = routesOf<State>();
  const file = createPageFiles(paths, headers);
  const common = { method: "GET", versions: [1, 2], resource: "node", stateless: true, cache: "never", hidden: true } as const;
  const content = { "text/html": Type.String() };
  const name = Type.Object({ name: Type.String() });
  return [
    body({ ...common, path: "/console", operation: "getConsole", summary: "Returns the console, a page for those who run the node.", content, answer: () => file("index.html") }),
    body({ ...common, path: "/console/{name}", operation: "getConsoleFile", summary: "Returns a file of the console.", content, params: name, answer: ({ params }) => file(params.name) }),
    body({ ...common, path: "/console/lib/{name}", operation: "getConsoleLibrary", summary: "Returns a library of the console.", content, params: name, answer: ({ params }) => file(`lib/${params.name}`) }),
  ];
};

import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { Type } from "@sinclair/typebox";
import { PorticoError } from "../../errors.js";
import { type FileAnswer, type Route, routesOf, type Scope } from "../route.js";

/**
 * The page of the interactive reference, which is Swagger UI from the package, started by a script of its own: the page's
 * Content-Security-Policy allows none within it. All links are relative, so that it works below any base path.
 */
const page = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="color-scheme" content="light dark" />
    <title>API reference</title>
    <link rel="icon" href="data:," />
    <link rel="stylesheet" href="docs/swagger-ui.css" />
    <link rel="stylesheet" href="docs/page.css" />
  </head>
  <body>
    <noscript><p>This page needs JavaScript. The interface is described in <a href="openapi.json">openapi.json</a>, too.</p></noscript>
    <div id="reference"></div>
    <script src="docs/swagger-ui-bundle.js"></script>
    <script src="docs/page.js"></script>
  </body>
</html>
`;

/** Nothing is validated elsewhere, and tokens are not kept. Swagger UI is dark where the root element says so. */
const pageScript = `"use strict";
const { SwaggerUIBundle } = window;
const dark = matchMedia("(prefers-color-scheme: dark)");
const dress = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
dress();
dark.addEventListener("change", dress);
SwaggerUIBundle({
  url: new URL("openapi.json", document.baseURI).href,
  domNode: document.getElementById("reference"),
  deepLinking: true,
  displayRequestDuration: true,
  docExpansion: "none",
  filter: true,
  persistAuthorization: false,
  tryItOutEnabled: true,
  validatorUrl: null,
});
`;

/** A column that says "No links" in each row; and texts, where they stand out too little from what is behind them. */
const pageStyle = `body {
  margin: 0;
}
noscript p {
  margin: 2rem;
  font-family: sans-serif;
}
html:not(.dark-mode) .swagger-ui .info .link,
html:not(.dark-mode) .swagger-ui .info .url {
  color: #1c5fb0;
}
.swagger-ui .info .title small,
.swagger-ui .info .title small.version-stamp {
  background: #4a5160;
}
.swagger-ui .response-col_links {
  display: none;
}
html:not(.dark-mode) .swagger-ui .opblock .opblock-summary-method {
  color: #14181f;
  text-shadow: none;
}
html:not(.dark-mode) .swagger-ui .btn.authorize span {
  color: #157347;
}
html:not(.dark-mode) .swagger-ui .btn.cancel {
  color: #b02a2a;
}
html:not(.dark-mode) .swagger-ui .btn.execute {
  background: #1c5fb0;
}
html:not(.dark-mode) .swagger-ui .parameter__in {
  color: #555;
}
html.dark-mode .swagger-ui table.headers td {
  color: #e0e4ea;
}
.swagger-ui .highlight-code span[style*="211, 99, 99"] {
  color: #ff9b90 !important;
}
`;

/** Swagger UI's icons are images in its style sheet. */
const pagePolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join(";");

/** The build copies Swagger UI's files beside this one (.ci/build.mjs), so that hosts install nothing for it. */
const copied = new URL("swagger-ui/", import.meta.url);

const swaggerFolder = (): URL =>
  existsSync(copied) ? copied : pathToFileURL(createRequire(import.meta.url).resolve("swagger-ui-dist/package.json"));

const types = { css: "text/css; charset=utf-8", js: "text/javascript; charset=utf-8" } as const;

const typeOf = (name: string): string => (name.endsWith(".css") ? types.css : types.js);

/** Files of the page: those of our own, and how to read the others. */
const ownFiles = { "page.css": pageStyle, "page.js": pageScript };
const swaggerFiles = ["swagger-ui.css", "swagger-ui-bundle.js"];

const fileOf = async (name: string): Promise<FileAnswer> => {
  const own = Object.entries(ownFiles).find(([known]) => known === name)?.[1];
  if (own === undefined && !swaggerFiles.includes(name)) throw new PorticoError("NOT_FOUND");
  const file = own === undefined ? await readFile(new URL(name, swaggerFolder())) : Buffer.from(own);
  return { file, contentType: typeOf(name), headers: ["Cross-Origin-Resource-Policy", "same-origin"] };
};

/** Each is read when it is first wanted. */
const createFiles = () => {
  const read = new Map<string, Promise<FileAnswer>>();
  return (name: string): Promise<FileAnswer> => {
    const file = read.get(name) ?? fileOf(name);
    read.set(name, file);
    // What does not exist is not remembered, nor what could not be read.
    file.catch(() => read.delete(name));
    return file;
  };
};

/** `GET /docs`: the interactive reference, and the files of its page. */
export const docsRoutes = <State extends Scope>(): Route<State>[] => {
  const { body } = routesOf<State>();
  const common = { method: "GET", versions: [1, 2], resource: "node", stateless: true, cache: "never" } as const;
  const answer: FileAnswer = {
    file: Buffer.from(page),
    contentType: "text/html; charset=utf-8",
    headers: ["Content-Security-Policy", pagePolicy, "Cross-Origin-Resource-Policy", "same-origin"],
  };
  const files = createFiles();
  return [
    body({
      ...common,
      path: "/docs",
      summary: "Shows this reference as a page in which requests can be tried.",
      content: { "text/html": Type.String() },
      answer: () => answer,
    }),
    body({
      ...common,
      path: "/docs/{file}",
      operation: "getDocsFile",
      hidden: true,
      summary: "Returns a file of the reference's page.",
      params: Type.Object({ file: Type.String() }),
      content: { "text/css": Type.String(), "text/javascript": Type.String() },
      answer: ({ params: { file } }) => files(file),
    }),
  ];
};

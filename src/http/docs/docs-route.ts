import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { Type } from "@sinclair/typebox";
import { createPageFiles } from "../page-files.js";
import { GenerationQuery } from "../service-routes.js";
import { type Route, routesOf, type Scope } from "../route.js";

/** Swagger UI's icons are images in its style sheet. */
const policy = [
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

const sameOrigin = ["Cross-Origin-Resource-Policy", "same-origin"];

/** The build copies Swagger UI's files beside this one (.ci/build.mjs), so that hosts install nothing for it. */
const copied = new URL("swagger-ui/", import.meta.url);

const swaggerFolder = (): URL =>
  existsSync(copied) ? copied : pathToFileURL(createRequire(import.meta.url).resolve("swagger-ui-dist/package.json"));

const fromPage = (name: string) => [name, () => new URL(`page/${name}`, import.meta.url)] as const;
const fromSwagger = (name: string) => [name, () => new URL(name, swaggerFolder())] as const;

/**
 * `GET /docs`: the interactive reference, and the files of its page. It is Swagger UI from the package, started by a script of the page's
 * own: its policy allows none within it. All links are relative, so that it works below any base path.
 */
export const docsRoutes = <State extends Scope>(): Route<State>[] => {
  const { body } = routesOf<State>();
  const common = { method: "GET", versions: [1, 2], resource: "node", stateless: true, cache: "never" } as const;
  const page = createPageFiles(new Map([fromPage("index.html")]), ["Content-Security-Policy", policy, ...sameOrigin]);
  const names = [...["page.css", "page.js"].map(fromPage), ...["swagger-ui.css", "swagger-ui-bundle.js"].map(fromSwagger)];
  const file = createPageFiles(new Map(names), sameOrigin);
  return [
    body({
      ...common,
      path: "/docs",
      summary: "Shows this reference as an interactive page: the second generation, or the one in the query.",
      query: GenerationQuery,
      content: { "text/html": Type.String() },
      answer: () => page("index.html"),
    }),
    body({
      ...common,
      path: "/docs/{file}",
      operation: "getDocsFile",
      hidden: true,
      summary: "Returns a file of the reference's page.",
      params: Type.Object({ file: Type.String() }),
      content: { "text/css": Type.String(), "text/javascript": Type.String() },
      answer: ({ params }) => file(params.file),
    }),
  ];
};

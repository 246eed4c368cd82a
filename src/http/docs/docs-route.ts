import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { Type } from "@sinclair/typebox";
import { PorticoError } from "../../errors.js";
import { type FileAnswer, type Route, routesOf, type Scope } from "../route.js";
import { page, pagePolicy, pageScript, pageStyle } from "./page.js";

/** The build copies Swagger UI's files beside this one (.ci/build.mjs), so that hosts install nothing for it. */
const copied = new URL("swagger-ui/", import.meta.url);

const swaggerFolder = (): URL => (existsSync(copied) ? copied : pathToFileURL(createRequire(import.meta.url).resolve("swagger-ui-dist/package.json")));

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
    body({ ...common, path: "/docs", summary: "Shows this reference as a page in which requests can be tried.", content: { "text/html": Type.String() }, answer: () => answer }),
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

import { join } from "node:path";
import { Type } from "@sinclair/typebox";
import { PorticoError } from "../errors.js";
import { type Route, routesOf, type Scope } from "../http/route.js";
import { readIfThere } from "./files.js";
import { createManifestParser, manifestFile, olderManifest, sha256Of } from "./manifest.js";

const Json = {
  "application/json": Type.Object({}, { additionalProperties: true, description: "The manifest; see the README of the lake." }),
};
const Gzip = { "application/gzip": Type.String({ format: "binary" }) };

/** @throws PorticoError NOT_FOUND */
const createServedFolder = (dir: string | undefined) => {
  const parse = createManifestParser();
  const folder = (): string => {
    if (dir === undefined) throw new PorticoError("NOT_FOUND", "This node has no lake.");
    return dir;
  };

  const readManifest = async (): Promise<Buffer> => {
    const found = await readIfThere(join(folder(), manifestFile));
    if (found === undefined) throw new PorticoError("NOT_FOUND", "The lake has no files yet.");
    return found;
  };

  /** Only what the manifest lists: a file that is there already may still be replaced. */
  const listed = async (kind: "blocks" | "snapshots", name: string): Promise<string> => {
    const bytes = await readManifest();
    const found = parse(bytes, manifestFile)[kind].find(({ file }) => file === `${kind}/${name}`);
    if (found === undefined) throw new PorticoError("NOT_FOUND", "The lake has no such file.");
    return join(folder(), found.file);
  };

  return { folder, readManifest, listed };
};

/** The lake's files. `dir` is undefined where the node has none. */
export const lakeRoutes = <State extends Scope>(dir: string | undefined): Route<State>[] => {
  const { body } = routesOf<State>();
  const { folder, readManifest, listed } = createServedFolder(dir);
  const lake = { method: "GET", versions: [2], resource: "lake", stateless: true, cache: "never", errors: [404] } as const;
  const file = (kind: "blocks" | "snapshots", what: string): Route<State> =>
    body({
      ...lake,
      path: `/lake/${kind}/{file}`,
      operation: kind === "blocks" ? "getLakeBlockFile" : "getLakeSnapshotFile",
      summary: `Returns ${what}, whole or in part (\`Range\`).`,
      params: Type.Object({ file: Type.String({ description: "Name of the file, as the manifest has it." }) }),
      content: Gzip,
      answer: async ({ params }) => ({ file: await listed(kind, params.file), contentType: "application/gzip", immutable: true }),
    });

  return [
    body({
      ...lake,
      path: "/lake/manifest.json",
      operation: "getLakeManifest",
      summary: "Returns the signed list of the lake's files: final blocks, and snapshots of the store.",
      content: Json,
      answer: async () => {
        const bytes = await readManifest();
        return {
          file: bytes,
          contentType: "application/json; charset=utf-8",
          etag: sha256Of(bytes),
          headers: ["Cache-Control", "no-cache"],
        };
      },
    }),
    body({
      ...lake,
      path: "/lake/manifests/{file}",
      operation: "getLakeOlderManifest",
      summary: "Returns an earlier manifest by its SHA-256, which the next one names as `previous`.",
      params: Type.Object({ file: Type.String({ description: "`SHA256.json`, in hexadecimal digits." }) }),
      content: Json,
      answer: async ({ params }) => {
        const sha256 = /^([0-9a-f]{64})\.json$/.exec(params.file)?.[1];
        const bytes = sha256 === undefined ? undefined : await readIfThere(join(folder(), olderManifest(sha256)));
        if (bytes === undefined) throw new PorticoError("NOT_FOUND", "The lake has no such file.");
        return { file: bytes, contentType: "application/json; charset=utf-8", immutable: true };
      },
    }),
    file("blocks", "a file of final blocks: one block with its transactions a line, compressed"),
    file("snapshots", "a compressed copy of the store at a final block"),
  ];
};

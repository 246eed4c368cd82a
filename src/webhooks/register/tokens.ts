import { createHash, randomUUID, timingSafeEqual } from "node:crypto";
import { readFileSync } from "node:fs";
import { chmod, link, readFile, rm, stat, writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import type { Logger } from "../../../types/node-context.js";
import { PorticoError } from "../../errors.js";
import { makeDataDir } from "../../files/make-folder.js";
import { shortestToken } from "../../options/checks.js";
import { createToken } from "../send/request.js";

/** Says whether an `Authorization` header (`<token>` or `Bearer <token>`) carries one of the tokens. */
export type Authorize = (header: string | undefined) => boolean;

const digest = (text: string): Buffer => createHash("sha256").update(text).digest();

const tokenOf = (header: string): string => (/^bearer /i.test(header) ? header.slice("bearer ".length).trimStart() : header);

/** Every comparison takes the same time, and every token is compared, whichever is right. */
export const createAuthorize = (tokens: readonly string[]): Authorize => {
  const known = tokens.map(digest);
  return (header) => {
    const given = digest(tokenOf((header ?? "").trim()));
    return known.reduce((found, token) => timingSafeEqual(token, given) || found, false);
  };
};

export interface TokenOptions {
  /** Tokens set by the operator. */
  tokens: readonly string[];
  /** Folder of the generated one. */
  dataDir: string;
  /** Whether one is generated here. If not, it is the node's, which may not have started yet. */
  makes: boolean;
}

/** Name of the file, below the data folder, in which a generated token is kept. */
export const tokenFile = "webhook-token";

const ownerOnly = 0o600;

const hasCode = (error: unknown, code: string): boolean => error instanceof Error && "code" in error && error.code === code;

const readToken = async (path: string, logger: Logger): Promise<string | undefined> => {
  try {
    const { mode } = await stat(path);
    if (process.platform !== "win32" && (mode & 0o077) !== 0) {
      await chmod(path, ownerOnly);
      logger.warn(`${path} was readable by others; now only its owner can read it`);
    }
    return (await readFile(path, "utf8")).trim();
  } catch (error) {
    if (hasCode(error, "ENOENT")) return undefined;
    throw error;
  }
};

/** Creates the file with its mode and content at once. Of two processes that try, one creates it; false for the other. */
const writeToken = async (path: string, token: string): Promise<boolean> => {
  const draft = `${path}.${randomUUID()}`;
  await writeFile(draft, `${token}\n`, { flag: "wx", mode: ownerOnly, flush: true });
  try {
    await link(draft, path);
    return true;
  } catch (error) {
    if (hasCode(error, "EEXIST")) return false;
    throw error;
  } finally {
    await rm(draft, { force: true });
  }
};

const generatedToken = async (dataDir: string, logger: Logger): Promise<string> => {
  const path = resolve(dataDir, tokenFile);
  makeDataDir(dataDir);
  const token = createToken();
  if ((await readToken(path, logger)) === undefined && (await writeToken(path, token))) {
    logger.info(`webhooks: a token was generated; it is kept in ${path}`);
    return token;
  }
  const kept = (await readToken(path, logger)) ?? "";
  if (kept.length < shortestToken)
    throw new PorticoError("OPTION_INVALID", `${path} does not contain a valid token; remove it, and the next start generates another`);
  logger.info(`webhooks: the token is kept in ${path}`);
  return kept;
};

/** The token that the file holds now; undefined if it holds none, as while it is replaced. */
const tokenNow = (path: string): string | undefined => {
  try {
    const token = readFileSync(path, "utf8").trim();
    return token.length < shortestToken ? undefined : token;
  } catch {
    return undefined;
  }
};

/**
 * Reads the file with every request: another process of the folder may have restarted with another token. The function returned throws
 * NOT_READY while there is none.
 */
const authorizeByFile = (dataDir: string, generated: string | undefined): Authorize => {
  const path = resolve(dataDir, tokenFile);
  let token = generated;
  return (header) => {
    token = tokenNow(path) ?? token;
    if (token === undefined) throw new PorticoError("NOT_READY");
    return createAuthorize([token])(header);
  };
};

/**
 * The check of a node's tokens: those that are configured, else the one that was generated at the first start, or whichever is in its
 * file now.
 * @throws PorticoError OPTION_INVALID for a token file that holds none
 */
export const openAuthorize = async ({ tokens, dataDir, makes }: TokenOptions, logger: Logger): Promise<Authorize> => {
  if (tokens.length > 0) return createAuthorize(tokens);
  return authorizeByFile(dataDir, makes ? await generatedToken(dataDir, logger) : undefined);
};

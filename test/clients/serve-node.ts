import { expect } from "chai";
import { createReplayer, type Recorded } from "./recorded.js";
import { type PoolKind, runningNode } from "./running-node.js";
import type { PorticoOptions } from "../../types/options.js";

/** The running node's second generation, requested by path; every answer must be a 200. */
export interface Interface {
  get(path: string): Promise<unknown>;
  post(path: string, body?: unknown): Promise<unknown>;
  close(): void;
}

export const serveNode = async (options: PorticoOptions = {}, pool?: PoolKind): Promise<Interface> => {
  const { origin } = await runningNode(options, pool);
  const { replay, close } = createReplayer(origin);
  const ask = async (recorded: Recorded): Promise<unknown> => {
    const { status, body, text } = await replay({ ...recorded, path: `/api/v2${recorded.path}` });
    expect(status, `${recorded.path}: ${text.slice(0, 200)}`).to.equal(200);
    return body;
  };
  return {
    get: (path) => ask({ path }),
    post: (path, body) => ask({ method: "POST", path, ...(body === undefined ? {} : { body: JSON.stringify(body) }) }),
    close,
  };
};

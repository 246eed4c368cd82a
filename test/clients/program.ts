import { expect } from "chai";
import type { PorticoOptions } from "../../types/options.js";
import { createReplayer, type Recorded, type Replayed } from "./recorded.js";
import { type RunningNode, runningNode } from "./running-node.js";

/** How a deployed program talks to a node: the request headers as its HTTP library writes them. */
export interface Program {
  name: string;
  /** The prefix of its paths. */
  prefix: string;
  get: Record<string, string>;
  post: Record<string, string>;
  /** The generation that it assumes; 2 by default. */
  generation?: 1 | 2;
  /** The configuration of the node that it was made for. */
  options?: PorticoOptions;
}

/** A program at work. What it reads must be JSON with the given status. */
export interface Session {
  node: RunningNode;
  get(path: string, status?: number): Promise<unknown>;
  post(path: string, body: unknown, status?: number): Promise<unknown>;
  replay(recorded: Recorded): Promise<Replayed>;
}

/** Describes what a program does, in a session of its own. */
export const describeProgram = (program: Program, steps: (session: () => Session) => void): void => {
  describe(program.name, () => {
    let session: Session;
    let close: () => void;
    before(async () => {
      const node = await runningNode(program.options);
      const replayer = createReplayer(node.origin);
      close = replayer.close;
      const ask = async (recorded: Recorded, status: number): Promise<unknown> => {
        const answer = await replayer.replay({ ...recorded, path: `${program.prefix}/${recorded.path}` });
        expect(answer.status, `${recorded.path}: ${answer.text.slice(0, 200)}`).to.equal(status);
        expect(answer.headers["content-type"]).to.match(/^application\/json/);
        expect(answer.headers["api-version"]).to.equal(String(program.generation ?? 2));
        return answer.body;
      };
      session = {
        node,
        get: (path, status = 200) => ask({ path, headers: program.get }, status),
        post: (path, body, status = 200) => ask({ method: "POST", path, headers: program.post, body: JSON.stringify(body) }, status),
        replay: replayer.replay,
      };
    });
    after(() => close());
    steps(() => session);
  });
};

/** The headers that axios writes, in Electron and in browsers. */
export const axios = { Accept: "application/json, text/plain, */*" };

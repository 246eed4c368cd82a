import { expect } from "chai";
import type { PorticoOptions } from "../../types/node-context.js";
import { createReplayer, type Recorded, type Replayed } from "./recorded.js";
import { type RunningNode, runningNode } from "./running-node.js";

/** How a program that is deployed speaks to a node: the headers of its requests as its HTTP library writes them. */
export interface Program {
  name: string;
  /** What its paths begin with. */
  prefix: string;
  get: Record<string, string>;
  post: Record<string, string>;
  /** Generation that it takes for granted. Default 2. */
  generation?: 1 | 2;
  /** How the node that it was made for is set up. */
  options?: PorticoOptions;
}

/** One program at work. What it reads has to be JSON with that status. */
export interface Session {
  node: RunningNode;
  get(path: string, status?: number): Promise<unknown>;
  post(path: string, body: unknown, status?: number): Promise<unknown>;
  replay(recorded: Recorded): Promise<Replayed>;
}

/** Describes what a program does, in a session of its own. */
export const describeProgram = (program: Program, steps: (session: () => Session) => void): void => {
  describe(program.name, function () {
    this.timeout(20_000);
    let session: Session;
    let close: () => void;
    before(async function () {
      this.timeout(60_000);
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

/** How axios, in Electron and in browsers, writes requests. */
export const axios = { Accept: "application/json, text/plain, */*" };

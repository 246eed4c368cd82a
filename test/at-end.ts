import { inspect } from "node:util";
import { isLong } from "./fixtures/long.js";

type Stop = () => Promise<void>;

/** Of the process, not of this module: mocha may load it once with `require` and, for test files with a top-level `await`, once more with `import`. */
const stops: Stop[] = ((globalThis as { stopsOfTests?: Stop[] }).stopsOfTests ??= []);

/** Has something that test files share stopped, the youngest first, when the tests of this process have ended: all of them, or, in parallel runs, those of a file. */
export const atEnd = (stop: Stop): void => {
  stops.unshift(stop);
};

/** Read by mocha, which is told to load this file before any other. */
export const mochaHooks = {
  /** A long run takes as long as it takes, whatever limits its tests set for their short forms. */
  beforeEach(this: Mocha.Context): void {
    if (isLong) this.currentTest?.timeout(0);
  },
  /** Parallel runs send what a test found to another process as JSON. A big integer in it would lose the results of the whole file. */
  afterEach(this: Mocha.Context): void {
    const { err } = this.currentTest as { err?: { actual?: unknown; expected?: unknown } };
    if (err === undefined || typeof err.expected === "string") return;
    if ("actual" in err) err.actual = inspect(err.actual);
    if ("expected" in err) err.expected = inspect(err.expected);
  },
  afterAll: async (): Promise<void> => {
    for (const stop of stops.splice(0)) await stop();
  },
};

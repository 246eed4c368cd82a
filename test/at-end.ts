import { inspect } from "node:util";
import { closeAll } from "../src/async/close-all.js";
import { isLong } from "./fixtures/long.js";

type Stop = () => unknown;

interface Open {
  ofProcess: Stop[];
  /** Undefined where no test runs. */
  ofTest: Stop[] | undefined;
}

/** Of the process, not of this module: mocha may load it once with `require` and, for test files with a top-level `await`, once more with `import`. */
const open: Open = ((globalThis as { openInTests?: Open }).openInTests ??= { ofProcess: [], ofTest: undefined });

/** Has something that test files share stopped, the youngest first, when the tests of this process have ended: all of them, or, in parallel runs, those of a file. */
export const atEnd = (stop: Stop): void => {
  open.ofProcess.unshift(stop);
};

/** Has something stopped, the youngest first, when the test has ended that started it, itself or in `beforeEach`. What anything else starts is stopped as by `atEnd`. */
export const atEndOfTest = (stop: Stop): void => {
  (open.ofTest ?? open.ofProcess).unshift(stop);
};

/** Read by mocha, which is told to load this file before any other. */
export const mochaHooks = {
  beforeEach(this: Mocha.Context): void {
    open.ofTest = [];
    // A long run takes as long as it takes, whatever limits its tests set for their short forms.
    if (isLong) this.currentTest?.timeout(0);
  },
  async afterEach(this: Mocha.Context): Promise<void> {
    // Parallel runs send what a test found to another process as JSON. A big integer in it would lose the results of the whole file.
    const { err } = this.currentTest as { err?: { actual?: unknown; expected?: unknown } };
    if (err !== undefined && typeof err.expected !== "string") {
      if ("actual" in err) err.actual = inspect(err.actual);
      if ("expected" in err) err.expected = inspect(err.expected);
    }
    const started = open.ofTest ?? [];
    open.ofTest = undefined;
    await closeAll(...started);
  },
  afterAll: async (): Promise<void> => closeAll(...open.ofProcess.splice(0)),
};

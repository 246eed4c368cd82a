type Stop = () => Promise<void>;

/** Of the process, not of this module: mocha may load it once with `require` and, for test files with a top-level `await`, once more with `import`. */
const stops: Stop[] = ((globalThis as { stopsOfTests?: Stop[] }).stopsOfTests ??= []);

/** Has something that test files share stopped, the youngest first, when the tests of this process have ended: all of them, or, in parallel runs, those of a file. */
export const atEnd = (stop: Stop): void => {
  stops.unshift(stop);
};

/** Read by mocha, which is told to load this file before any other. */
export const mochaHooks = {
  afterAll: async (): Promise<void> => {
    for (const stop of stops.splice(0)) await stop();
  },
};

/** What is mutated, and by which tests it has to be found out. */
export const rooms = {
  chain: {
    what: "rules of the chain",
    mutate: ["src/chain/{amount,epoch,locks,milestones,rounds}.ts", "src/chain/blocks/apply.ts"],
    tests: ["test/chain/{amount,apply,epoch,finality,locks,milestones,real-chains,rounds,slots}.test.ts"],
  },
  follow: {
    what: "cursors, and the events of a change",
    mutate: ["src/follow/{cursor,derive,payload}.ts"],
    tests: ["test/follow/{cursor,derive,payload,random-forks,again,recent-changes}.test.ts"],
  },
  conditions: {
    what: "conditions of webhooks",
    mutate: ["src/webhooks/conditions/{conditions,json-value,matcher,pattern}.ts"],
    tests: ["test/webhooks/{conditions,decimal,events,pattern}.test.ts"],
  },
  paging: {
    what: "pages of lists",
    mutate: ["src/http/input/query.ts", "src/store/records/sorting.ts"],
    tests: ["test/http/paging.test.ts", "test/store/{binary-search,sequence,list-query,sorting}.test.ts"],
  },
  retries: {
    what: "what a delivery's outcome means, and when it is tried again",
    mutate: ["src/webhooks/deliver/outcome.ts"],
    tests: ["test/webhooks/outcome.test.ts"],
  },
  history: {
    what: "states at earlier heights",
    mutate: ["src/store/history/{past-records,past-snapshot,wallet-changes}.ts", "src/store/write/history-rows.ts"],
    tests: ["test/store/{history-rows,past-states,wallet-changes}.test.ts"],
  },
};

/**
 * The paths of a pattern: mocha's own globs have no braces.
 * @param {string} pattern
 * @returns {string[]}
 */
export const expanded = (pattern) => {
  const [, before, names, after] = /^(.*)\{(.*)\}(.*)$/.exec(pattern) ?? [];
  return names === undefined ? [pattern] : names.split(",").map((name) => `${before}${name}${after}`);
};

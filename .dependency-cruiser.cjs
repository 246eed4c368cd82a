/** The directions of import between rooms (src/README.md, Rooms). Each rule names who may never import whom. */
const never = (name, from, to) => ({ name, severity: "error", from: { path: from }, to: { path: to } });

module.exports = {
  forbidden: [
    { name: "no-circular", severity: "error", from: {}, to: { circular: true } },
    { name: "no-orphans", severity: "error", from: { orphan: true, pathNot: "\\.d\\.ts$|^examples/" }, to: {} },
    {
      name: "library-uses-its-own-dependencies",
      severity: "error",
      from: { path: "^(src|types)" },
      to: { dependencyTypes: ["npm-dev", "npm-optional", "npm-no-pkg", "npm-unknown"] },
    },
    never("src-knows-no-tests-or-examples", "^(src|types)", "^(test|examples)"),
    { name: "types-have-no-run-time", severity: "error", from: { path: "^types" }, to: { path: "^src", dependencyTypesNot: ["type-only"] } },
    never("chain-is-pure", "^src/(chain|errors)", "^src/(store|follow|live|api|http|webhooks|conformance|plugin)|^(koa|lmdb|@koa)"),
    never("chain-does-no-io", "^src/chain", "^(node:)?(fs|net|http|https|child_process|dns)(/|$)"),
    never("follow-is-handed-what-it-needs", "^src/follow", "^src/(store|http|api|webhooks|live|conformance|plugin)|^(koa|lmdb|@koa)"),
    never("live-is-handed-what-it-needs", "^src/live", "^src/(store|api|webhooks|conformance|plugin)|^(koa|lmdb|@koa)"),
    never("store-serves-whoever", "^src/store", "^src/(http|api|webhooks|conformance|plugin)"),
    never("history-is-below-the-store-that-serves-it", "^src/store/history", "^src/store/(state|sync|webhooks)"),
    never("queries-know-no-history", "^src/store/(layout|lmdb|records|write|query)/", "^src/store/(history|state|sync|webhooks)"),
    never("api-knows-no-edge", "^src/api", "^src/(store|conformance|plugin)|^src/http/(?!route\\.ts|input/)|node_modules/(koa|@koa|lmdb)"),
    never("generations-are-apart", "^src/api/v1", "^src/api/v2"),
    never("generations-are-apart-too", "^src/api/v2", "^src/api/v1"),
    never("http-knows-no-resource", "^src/http", "^src/(api|store|webhooks|chain|conformance|plugin)"),
    // The rooms of http: input, routing, reply ← cache ← pipeline ← fast ← hosts; openapi describes, and knows none of them.
    never("http-input-routing-reply", "^src/http/(input|routing|reply)/", "^src/http/(cache|pipeline|fast|hosts|openapi|edge)"),
    never("http-cache", "^src/http/cache/", "^src/http/(pipeline|fast|hosts|openapi|edge\\.)"),
    never("http-pipeline", "^src/http/pipeline/", "^src/http/(fast|hosts|openapi|edge\\.)"),
    never("http-fast", "^src/http/fast/", "^src/http/(hosts|openapi|edge\\.)"),
    never("http-hosts", "^src/http/hosts/", "^src/http/(fast|openapi|edge\\.)"),
    never("http-openapi", "^src/http/openapi/", "^src/http/(cache|pipeline|fast|hosts|edge\\.)"),
    never("http-docs", "^src/http/docs/", "^src/http/(cache|pipeline|fast|hosts|openapi|edge\\.)"),
    never("only-hosts-know-koa", "^src/http/(?!hosts/|edge\\.ts|input/body\\.ts|routing/router\\.ts)", "node_modules/(koa|@koa|koa-bodyparser)/"),
    never("webhooks-are-handed-what-they-need", "^src/webhooks", "^src/(http|api|store|conformance|plugin)"),
    never("lake-is-handed-what-it-needs", "^src/lake", "^src/(store|api|webhooks|conformance|plugin)|^src/http/(?!route\\.ts)"),
    never("operate-is-handed-what-it-needs", "^src/operate", "^src/(store|api|webhooks|conformance|plugin)|^src/http/(?!route\\.ts|health-route\\.ts)"),
    never("conformance-needs-no-runner", "^src/conformance", "^src/(store|http|api|webhooks|plugin)|node_modules/(mocha|chai)"),
    never("only-the-store-knows-lmdb", "^src/(?!store/)", "node_modules/lmdb"),
  ],
  options: {
    doNotFollow: { path: "node_modules" },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.json" },
    enhancedResolveOptions: { exportsFields: ["exports"], conditionNames: ["import", "require", "node", "default", "types"] },
  },
};

export { describeConformance, type TestRunner } from "./describe.js";
export { type ConformanceCase, type ConformanceOutcome, type ConformanceSuite, createConformanceSuite } from "./suite.js";
export type { ConformanceSubject, ConformanceTarget } from "./target.js";

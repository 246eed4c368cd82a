export { describeConformance, type TestRunner } from "./suite.js";
export { type ConformanceCase, type ConformanceOutcome, type ConformanceSuite, createConformanceSuite } from "./suite.js";
export type { ConformanceSubject, ConformanceTarget } from "./target.js";

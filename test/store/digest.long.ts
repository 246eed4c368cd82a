/** Digests of the real chains, to their ends, against their plain states. */
import "./digest.test.js";

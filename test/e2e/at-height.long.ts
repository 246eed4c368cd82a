/** Every route that takes `at`, on random chains that fork: each reply against the one that the node gave when that block was the tip. */
import "./at-height-forks.test.js";

/** Forks deeper than undo records reach, with kills: webhooks and the node's tip are the host's chain, 2,000 times. */
import "./deep-forks.test.js";

/** Random chains, written, reverted, asked and compared with plain addition. */
import "./random-chains.test.js";

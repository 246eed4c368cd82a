/** The example host's chain and traffic, over more blocks. */
import "./traffic.test.js";

/** The package's client against thousands of faults, forks, restarts and kills. */
import "./faults.test.js";
import "./follow.test.js";
import "./lists.test.js";

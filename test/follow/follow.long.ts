/** Readers that follow a chain through random forks: 10,000 schedules. */
import "./random-forks.test.js";

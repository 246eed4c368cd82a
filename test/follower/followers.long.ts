/** Followers with SQLite and PostgreSQL: 1,000 schedules of random forks, 500 kills. */
import "./follower.test.js";
import "./kills.test.js";

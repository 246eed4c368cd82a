/** Followers with SQLite and PostgreSQL: 1,000 schedules of random forks, 500 kills each. SQLite is killed where Node.js has it, from 22.13 on. */
import "./follower.test.js";
import "./kills.test.js";

/** Clients of the stream, the feed, the changes and webhooks through random forks, restarts and failures: 10,000 schedules. */
import "./random-forks.test.js";

/** A node and a webhook receiver killed 200 times, while the chain forks. */
import "./kills.test.js";

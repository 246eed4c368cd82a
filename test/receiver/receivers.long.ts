/** A receiver with an inbox in PostgreSQL, killed 200 times while blocks come and go. */
import "./kills.test.js";

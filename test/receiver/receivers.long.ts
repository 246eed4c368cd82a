/** A receiver with an inbox in PostgreSQL, and in SQLite where Node.js has it, killed 200 times each while blocks come and go. */
import "./kills.test.js";

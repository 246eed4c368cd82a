/** What the dearest request of every route, and every body, takes of the event loop at one time, on a chain of 20,000 transactions. */
import "./held-loop.test.js";

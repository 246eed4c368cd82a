/** Requests as no client sends them, over sockets. */
import "./fuzz.test.js";

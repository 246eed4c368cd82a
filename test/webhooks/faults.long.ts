/** A node with webhooks, killed under load and started again. */
import "./fault.test.js";

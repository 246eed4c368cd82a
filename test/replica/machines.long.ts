/** A node, three replicas and a reader, killed and held up at random (200 times), and NATS servers that lose all (100 times): states are compared. */
import "../nats/dispatch.test.js";
import "../nats/tip.test.js";
import "./killed.test.js";

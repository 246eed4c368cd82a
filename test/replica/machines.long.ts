/** A node, three replicas and a reader, killed and held up at random (200 times), NATS servers that lose all, a lake whose writer is killed: states are compared. */
import "../lake/killed.test.js";
import "../nats/dispatch.test.js";
import "../nats/tip.test.js";
import "./killed.test.js";
